/**
 * Decides which requests a control endpoint takes. The endpoints have no credentials: every program of this machine may
 * use them, but no web page that a browser of this machine shows. A page can reach loopback in two ways, and both are
 * refused: by a name of its own that resolves to 127.0.0.1 (DNS rebinding: the Host differs), and by a request across
 * sites (the Origin differs, or the body has a type that browsers send without asking first).
 */
export interface GuardedRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The port of the endpoint. */
  readonly port: number;
  readonly hasBody: boolean;
}

export interface Refusal {
  readonly status: 403 | 415;
  readonly code: "ForbiddenHost" | "ForbiddenOrigin" | "UnsupportedMediaType";
  readonly message: string;
}

const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];
const HTTP_PORT = 80;

/** Why the request is refused; `undefined` if it is taken. */
export function refusalOf({ headers, port, hasBody }: GuardedRequest): Refusal | undefined {
  const hosts = LOOPBACK_NAMES.flatMap((name) => [`${name}:${port}`, ...(port === HTTP_PORT ? [name] : [])]);
  const host = textOf(headers["host"]).toLowerCase();
  if (!hosts.includes(host)) {
    return {
      status: 403,
      code: "ForbiddenHost",
      message: `Host "${host}" is none of ${hosts.join(", ")}: the control endpoint answers under these only, so that no web page reaches it by a name of its own`,
    };
  }
  const origin = headers["origin"];
  if (origin !== undefined && !hosts.some((own) => textOf(origin).toLowerCase() === `http://${own}`)) {
    return {
      status: 403,
      code: "ForbiddenOrigin",
      message: `Origin "${textOf(origin)}" is not the control endpoint's own: web pages of other sites may not use it`,
    };
  }
  const type = textOf(headers["content-type"]).split(";")[0]?.trim().toLowerCase() ?? "";
  if (!hasBody || type === "application/json") return undefined;
  return {
    status: 415,
    code: "UnsupportedMediaType",
    message: `the body's content type is ${type === "" ? "missing" : `"${type}"`}: send JSON, with the header "content-type: application/json"`,
  };
}

function textOf(header: string | readonly string[] | undefined): string {
  return typeof header === "string" ? header : (header ?? []).join(", ");
}
