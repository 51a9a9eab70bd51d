/** What a Service asks of its private link service, from annotations. */
import assert from "node:assert/strict";
import type { PrivateLinkIntent } from "../../src/core/intent/service-intent.ts";
import { accepted } from "./parsed-service.ts";

/** Keys without `service.beta.kubernetes.io/`. */
export function parsedLink(annotations: Readonly<Record<string, string>> = {}): PrivateLinkIntent {
  const asked = { "azure-load-balancer-internal": "true", "azure-pls-create": "true", ...annotations };
  const { privateLink } = accepted({ annotations: asked }, { poolType: "nodeIPConfiguration" }).intent;
  assert.ok(privateLink);
  return privateLink;
}
