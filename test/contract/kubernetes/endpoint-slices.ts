/** EndpointSlices: what is filled in, what cannot change, what is refused. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubeObject } from "../../support/kube-connection.ts";
import { type Api, at, names, refused } from "./api.ts";

export function endpointSlices(api: Api): void {
  test("ports get a name and a protocol; conditions stay as they are said", async () => {
    const { made } = await slice(api, {
      ports: [{ port: 8080 }],
      endpoints: [{ addresses: ["10.1.0.1"], conditions: { ready: true, serving: true, terminating: false } }],
    });
    assert.deepEqual(made["ports"], [{ name: "", port: 8080, protocol: "TCP" }]);
    const conditions = at(made, "endpoints.0.conditions");
    assert.deepEqual(conditions, { ready: true, serving: true, terminating: false });
  });

  test("addressType does not change", async () => {
    const { path } = await slice(api, {});
    refused(await api.mergePatch(path, { addressType: "IPv6" }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueInvalid addressType"],
    });
  });

  test("refused: no addressType, an address of another family, an endpoint without addresses", async () => {
    const ns = await api.namespace();
    const collection = ns.group("discovery.k8s.io/v1", "endpointslices");
    const cases: [object, string][] = [
      [{ endpoints: [] }, "FieldValueRequired addressType"],
      [{ addressType: "IPv4", endpoints: [{ addresses: ["fd00::1"] }] }, "FieldValueInvalid endpoints[0].addresses"],
      [{ addressType: "IPv4", endpoints: [{ addresses: [] }] }, "FieldValueRequired endpoints[0].addresses"],
    ];
    for (const [part, cause] of cases) {
      const reply = await api.post(collection, { metadata: { name: "a" }, ...part });
      refused(reply, { code: 422, reason: "Invalid", causes: [cause] });
    }
  });

  test("a Service's slices are found by label", async () => {
    const { collection } = await slice(api, {}, { "kubernetes.io/service-name": "web" });
    const found = await api.read(`${collection}?labelSelector=kubernetes.io%2Fservice-name%3Dweb`);
    assert.deepEqual(names(found), ["a"]);
  });
}

async function slice(
  api: Api,
  part: object,
  labels: Record<string, string> = {},
): Promise<{ collection: string; path: string; made: KubeObject }> {
  const ns = await api.namespace();
  const collection = ns.group("discovery.k8s.io/v1", "endpointslices");
  const body = { metadata: { name: "a", labels }, addressType: "IPv4", endpoints: [], ...part };
  return { collection, path: `${collection}/a`, made: await api.create(collection, body) };
}
