/** The only address that the sandbox binds and connects to. */
export const LOOPBACK = "127.0.0.1";
