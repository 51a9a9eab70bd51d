/** POST to a service account's `token`: a token for it, valid for a bounded time. */
import type { JsonObject } from "../contract.ts";
import { asArray, asObject, asString } from "../json.ts";
import { keyOf, objectAt } from "../state.ts";
import { invalid, invalidValue, methodNotAllowed, notFound } from "../status-error.ts";
import { timestamp, type Write } from "../write/write.ts";

const SHORTEST_SECONDS = 600;
const DEFAULT_SECONDS = 3600;
const LONGEST_SECONDS = 2 ** 32;

export function requestToken(write: Write, name: string, body: unknown): JsonObject {
  const { state, resource, namespace = "", tokens, nowMs } = write;
  const account = objectAt(state, "serviceaccounts", keyOf({ metadata: { namespace, name } }));
  if (account === undefined) throw notFound(resource, name);
  if (tokens === undefined) throw methodNotAllowed();
  const spec = asObject(asObject(body)["spec"]);
  const seconds = Number(spec["expirationSeconds"] ?? DEFAULT_SECONDS);
  const field = "spec.expirationSeconds";
  const problem =
    seconds < SHORTEST_SECONDS
      ? "may not specify a duration less than 10 minutes"
      : seconds > LONGEST_SECONDS
        ? "may not specify a duration larger than 2^32 seconds"
        : undefined;
  if (problem !== undefined) {
    const subject = { group: "authentication.k8s.io", kind: "TokenRequest", plural: "tokenrequests" };
    throw invalid(subject, "", [invalidValue(field, seconds, problem)]);
  }
  const audiences = asArray(spec["audiences"]).map(asString);
  const aud = audiences.length === 0 ? [tokens.issuer] : audiences;
  const issued = Math.floor(nowMs / 1000);
  const token = tokens.sign({
    aud,
    exp: issued + seconds,
    iat: issued,
    iss: tokens.issuer,
    jti: write.draws.uuid(),
    "kubernetes.io": { namespace, serviceaccount: { name, uid: account.metadata.uid } },
    nbf: issued,
    sub: `system:serviceaccount:${namespace}:${name}`,
  });
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name, namespace, creationTimestamp: timestamp(nowMs) },
    spec: { audiences: aud, expirationSeconds: seconds, boundObjectRef: null },
    status: { token, expirationTimestamp: timestamp((issued + seconds) * 1000) },
  };
}
