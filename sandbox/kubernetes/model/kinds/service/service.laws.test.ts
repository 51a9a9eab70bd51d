/** Laws of allocation: what Services hold is theirs alone, stays theirs, and is free again when they go. */
import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../../../../test/support/laws.ts";
import { ModelApi, repeatable } from "../../../testing/model-api.ts";
import type { KubeObject } from "../../contract.ts";
import { type ServiceSpec, specOf } from "./spec.ts";

const SERVICES = "/api/v1/namespaces/default/services";

const types = fc.constantFrom("ClusterIP", "NodePort", "LoadBalancer");
const specs = fc.record({
  type: types,
  ports: fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
  local: fc.boolean(),
  dual: fc.boolean(),
});
const acts = fc.array(
  fc.oneof(
    fc.record({ verb: fc.constant("write"), name: fc.constantFrom("a", "b", "c"), spec: specs }),
    fc.record({ verb: fc.constant("delete"), name: fc.constantFrom("a", "b", "c"), spec: specs }),
  ),
  { maxLength: 25 },
);

function body(
  name: string,
  { type, ports, local, dual }: { type: string; ports: number[]; local: boolean; dual: boolean },
): object {
  return {
    metadata: { name },
    spec: {
      type,
      ports: ports.map((port) => ({ name: `p${port}`, port })),
      ...(type === "ClusterIP" ? {} : { externalTrafficPolicy: local ? "Local" : "Cluster" }),
      ipFamilyPolicy: dual ? "PreferDualStack" : "SingleStack",
    },
  };
}

function held(service: KubeObject): string[] {
  const { clusterIPs = [], ports = [], healthCheckNodePort } = specOf(service);
  const nodePorts = ports.flatMap(({ nodePort, protocol }) =>
    nodePort === undefined ? [] : [`${nodePort}/${protocol}`],
  );
  return [...clusterIPs, ...nodePorts, ...(healthCheckNodePort === undefined ? [] : [`${healthCheckNodePort}/TCP`])];
}

function complete({
  type,
  ports = [],
  clusterIPs = [],
  ipFamilyPolicy,
  healthCheckNodePort,
  ...spec
}: ServiceSpec): void {
  assert.equal(clusterIPs.length, ipFamilyPolicy === "PreferDualStack" ? 2 : 1);
  assert.equal(clusterIPs[0], spec.clusterIP);
  for (const port of ports) assert.equal(port.nodePort !== undefined, type !== "ClusterIP");
  assert.equal(healthCheckNodePort !== undefined, type === "LoadBalancer" && spec.externalTrafficPolicy === "Local");
}

test("no two Services hold the same address or port, and each holds what its type needs", () => {
  fc.assert(
    fc.property(acts, fc.nat(), (history, seed) => {
      // Draws that always fall on the same place: what is taken must be seen to be taken.
      const draws = { ...repeatable(seed), integer: (below: number) => seed % below };
      const model = new ModelApi({ dualStack: true, draws });
      for (const { verb, name, spec } of history) {
        const url = `${SERVICES}/${name}`;
        const there = model.send("GET", url);
        if (verb === "delete") model.request("DELETE", url);
        else if (there.kind === "Service") {
          const after = model.put(url, body(name, spec));
          assert.equal(specOf(after).clusterIP, specOf(there).clusterIP, "an address stays");
        } else model.create(SERVICES, body(name, spec));
        const services = model.items(SERVICES);
        const all = services.flatMap(held);
        assert.equal(new Set(all).size, all.length, `held twice: ${all.join(" ")}`);
        for (const service of services) complete(specOf(service));
        const { clusterIPs, nodePorts } = model.api.state.indexes;
        assert.deepEqual([...clusterIPs.keys(), ...nodePorts.keys()].sort(), all.sort());
      }
    }),
    { numRuns: 100 },
  );
});

test("one port in TCP and UDP shares its node port", () => {
  const model = new ModelApi();
  const ports = ["TCP", "UDP"].map((protocol) => ({ name: protocol.toLowerCase(), port: 53, protocol }));
  const made = model.create(SERVICES, { metadata: { name: "dns" }, spec: { type: "NodePort", ports } });
  const [tcp, udp] = specOf(made).ports ?? [];
  assert.ok(tcp?.nodePort);
  assert.equal(tcp.nodePort, udp?.nodePort);
});

test("from two families to one the second address goes, and comes back as another", () => {
  const model = new ModelApi({ dualStack: true });
  const spec = { ipFamilyPolicy: "RequireDualStack", ports: [{ port: 80 }] };
  const made = specOf(model.create(SERVICES, { metadata: { name: "a" }, spec }));
  assert.deepEqual(made.ipFamilies, ["IPv4", "IPv6"]);
  const single = specOf(model.mergePatch(`${SERVICES}/a`, { spec: { ipFamilyPolicy: "SingleStack" } }));
  assert.deepEqual(single.clusterIPs, made.clusterIPs?.slice(0, 1));
  assert.deepEqual(single.ipFamilies, ["IPv4"]);
  const dual = specOf(model.mergePatch(`${SERVICES}/a`, { spec: { ipFamilyPolicy: "PreferDualStack" } }));
  assert.equal(dual.clusterIPs?.length, 2);
  assert.equal(dual.clusterIP, made.clusterIP);
});

test("two families are refused where the cluster has one", () => {
  const model = new ModelApi({ dualStack: false });
  const spec = { ipFamilyPolicy: "RequireDualStack", ports: [{ port: 80 }] };
  assert.equal(model.refusal("POST", SERVICES, { metadata: { name: "a" }, spec }).code, 422);
  const preferred = { ...spec, ipFamilyPolicy: "PreferDualStack" };
  assert.deepEqual(specOf(model.create(SERVICES, { metadata: { name: "b" }, spec: preferred })).ipFamilies, ["IPv4"]);
});
