/**
 * A process that waits for the Lease passes requests on to the one that leads, so that a caller need not know which of them a
 * Service has sent it to. The leader writes where its API is, and its certificate, into the Lease, which only
 * controllers may write: the server that presents that certificate is the leader. The leader checks the caller's rights itself.
 */
import { X509Certificate } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { request as requestSecurely } from "node:https";

export interface LeaderApi {
  readonly url: string;
  /** In PEM. */
  readonly cert: string;
}

/** A request that was passed on is not passed on again: two processes may each believe that the other one leads. */
export const FORWARDED = "x-azlb-forwarded";
const WITHIN_MS = 10_000;

/** Resolves when the answer is through; fails where the leader does not answer. */
export function forward({ url, cert }: LeaderApi, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { "x-azlb-token": token, authorization, accept } = incoming.headers;
  return new Promise((resolve, reject) => {
    const outgoing = requestSecurely(new URL(incoming.url ?? "/", url), {
      method: "GET",
      headers: {
        [FORWARDED]: "true",
        ...(token !== undefined && { "x-azlb-token": token }),
        ...(authorization !== undefined && { authorization }),
        ...(accept !== undefined && { accept }),
      },
      agent: false,
      ca: cert,
      allowPartialTrustChain: true, // an operator's certificate is believed without those that signed it
      ...servernameOf(cert),
    });
    // until the answer begins: a stream of events is silent for as long as nothing changes
    const timer = setTimeout(() => outgoing.destroy(new Error(`no answer within ${WITHIN_MS / 1000} s`)), WITHIN_MS);
    outgoing.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    outgoing.on("response", (answer) => {
      clearTimeout(timer);
      const type = answer.headers["content-type"];
      response.writeHead(answer.statusCode ?? 502, type === undefined ? {} : { "content-type": type });
      answer.pipe(response);
      answer.on("error", () => response.destroy());
      response.on("close", () => {
        outgoing.destroy();
        resolve();
      });
    });
    outgoing.end();
  });
}

/** The certificate need not name the address that the leader is found at. */
function servernameOf(cert: string): { servername?: string } {
  const [, servername] = /DNS:([^,\s]+)/.exec(new X509Certificate(cert).subjectAltName ?? "") ?? [];
  return servername === undefined ? {} : { servername: servername.replace("*", "azlb") };
}

/** As the leader writes it into the Lease. */
export const API_ANNOTATION = "azlb.io/api";

export function writtenApi(holder: string, { url, cert }: LeaderApi): string {
  const [leaf = ""] = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/.exec(cert) ?? [];
  return JSON.stringify({ holder, url, cert: leaf });
}

/** `undefined`: the holder has written none, or it is of a former one. */
export function readApi(text: string | undefined, holder: string): LeaderApi | undefined {
  try {
    const found = JSON.parse(text ?? "null") as { holder?: unknown; url?: unknown; cert?: unknown } | null;
    if (found?.holder !== holder || typeof found.url !== "string" || typeof found.cert !== "string") return undefined;
    if (new URL(found.url).protocol !== "https:") return undefined;
    return { url: found.url, cert: found.cert };
  } catch {
    return undefined;
  }
}
