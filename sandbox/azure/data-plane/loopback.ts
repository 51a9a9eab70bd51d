/** The only address that the data plane binds and connects to. */
export const LOOPBACK = "127.0.0.1";
