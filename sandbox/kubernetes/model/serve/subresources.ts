/** Subresources that have a kind of their own: `scale` of workloads, `eviction` of pods, `token` of service accounts. */
import type { ApiRequest, JsonObject } from "../contract.ts";
import { requestToken } from "../access/token-request.ts";
import { methodNotAllowed } from "../status-error.ts";
import { evict } from "../write/evict.ts";
import { patchScale, readScale, replaceScale } from "../write/scale.ts";
import type { Write } from "../write/write.ts";

type Served = { readonly status: number; readonly body: JsonObject };

export function serveSubresource(
  write: Write,
  name: string,
  sub: "scale" | "eviction" | "token",
  { method, body, contentType }: ApiRequest,
): Served {
  switch (`${method} ${sub}`) {
    case "GET scale":
      return { status: 200, body: readScale(write, name) };
    case "PUT scale":
      return { status: 200, body: replaceScale(write, name, body) };
    case "PATCH scale":
      return { status: 200, body: patchScale(write, name, contentType, body) };
    case "POST eviction":
      return { status: 201, body: evict(write, name, body) };
    case "POST token":
      return { status: 201, body: requestToken(write, name, body) };
    default:
      throw methodNotAllowed();
  }
}
