/** A Service's life: what the server fills in, what it keeps over updates, and what goes with the type. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubeObject } from "../../support/kube-connection.ts";
import { type Api, accepted, at, partly } from "./api.ts";

const PORT = [{ port: 80 }];

export function services(api: Api): void {
  defaults(api);
  updates(api);
  typeChanges(api);
}

function defaults(api: Api): void {
  test("a ClusterIP Service: what is filled in", async () => {
    const { made } = await service(api, { ports: PORT, selector: { app: "a" } });
    const clusterIP = at(made, "spec.clusterIP");
    assert.match(String(clusterIP), /^\d+\.\d+\.\d+\.\d+$/);
    assert.deepEqual(made["spec"], {
      type: "ClusterIP",
      clusterIP,
      clusterIPs: [clusterIP],
      selector: { app: "a" },
      ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
      sessionAffinity: "None",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      internalTrafficPolicy: "Cluster",
    });
    assert.deepEqual(made["status"], { loadBalancer: {} });
    assert.equal(made.metadata.generation, undefined);
  });

  test("a LoadBalancer Service: node ports, policy and the allocation flag besides", async () => {
    const { made } = await service(api, { type: "LoadBalancer", ports: PORT });
    partly(made["spec"], { externalTrafficPolicy: "Cluster", allocateLoadBalancerNodePorts: true });
    assertNodePort(at(made, "spec.ports.0.nodePort"));
    assert.equal(at(made, "spec.healthCheckNodePort"), undefined);
  });

  test("externalTrafficPolicy Local gets a health check port of its own", async () => {
    const { made } = await service(api, { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: PORT });
    assertNodePort(at(made, "spec.healthCheckNodePort"));
    assert.notEqual(at(made, "spec.healthCheckNodePort"), at(made, "spec.ports.0.nodePort"));
    const nodePort = await service(api, { type: "NodePort", externalTrafficPolicy: "Local", ports: PORT });
    assert.equal(at(nodePort.made, "spec.healthCheckNodePort"), undefined);
  });

  test("allocateLoadBalancerNodePorts false: no node ports", async () => {
    const { made } = await service(api, { type: "LoadBalancer", allocateLoadBalancerNodePorts: false, ports: PORT });
    assert.equal(at(made, "spec.ports.0.nodePort"), undefined);
  });

  test("a headless Service keeps None; an ExternalName has no address at all", async () => {
    const headless = await service(api, { clusterIP: "None", selector: { app: "a" }, ports: PORT });
    partly(headless.made["spec"], { clusterIP: "None", clusterIPs: ["None"], ipFamilies: ["IPv4"] });
    const anything = await service(api, { clusterIP: "None", ports: PORT }); // its endpoints may be of either family
    partly(anything.made["spec"], { ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "RequireDualStack" });
    const external = await service(api, { type: "ExternalName", externalName: "a.example.com" });
    assert.deepEqual(external.made["spec"], {
      type: "ExternalName",
      externalName: "a.example.com",
      sessionAffinity: "None",
    });
  });

  test("ClientIP affinity lasts three hours unless said otherwise", async () => {
    const { made } = await service(api, { sessionAffinity: "ClientIP", ports: PORT });
    assert.deepEqual(at(made, "spec.sessionAffinityConfig"), { clientIP: { timeoutSeconds: 10_800 } });
  });

  test("addresses and node ports that are asked for are given", async () => {
    const ports = [{ port: 80, nodePort: 31_777 }];
    const { made, path } = await service(api, { type: "NodePort", clusterIP: "10.0.77.77", ports });
    partly(made["spec"], { clusterIP: "10.0.77.77", clusterIPs: ["10.0.77.77"], ports: [{ nodePort: 31_777 }] });
    accepted(await api.delete(path)); // given back, so that the next may have them
    await service(api, { type: "NodePort", clusterIP: "10.0.77.77", ports });
  });

  test("one port number in two protocols may share a node port", async () => {
    const { made } = await service(api, {
      type: "LoadBalancer",
      ports: [
        { name: "tcp", port: 53, protocol: "TCP" },
        { name: "udp", port: 53, protocol: "UDP" },
      ],
    });
    assert.equal(at(made, "spec.ports.0.nodePort"), at(made, "spec.ports.1.nodePort"));
  });
}

function updates(api: Api): void {
  test("PUT without clusterIP, nodePort and healthCheckNodePort keeps them", async () => {
    const before = [{ name: "http", port: 80 }];
    const { made, path } = await service(api, { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: before });
    const ports = [{ name: "more", port: 81 }, ...before];
    const spec = { type: "LoadBalancer", externalTrafficPolicy: "Local", ports };
    const put = accepted(await api.put(path, { metadata: { name: "a" }, spec }));
    for (const field of ["clusterIP", "clusterIPs", "healthCheckNodePort", "ipFamilies"]) {
      assert.deepEqual(at(put, `spec.${field}`), at(made, `spec.${field}`), field);
    }
    assert.equal(at(put, "spec.ports.1.nodePort"), at(made, "spec.ports.0.nodePort"));
    assertNodePort(at(put, "spec.ports.0.nodePort"));
    assert.notEqual(at(put, "spec.ports.0.nodePort"), at(put, "spec.ports.1.nodePort"));
  });

  test("a node port belongs to the port's name: it stays when the number changes, not when the name does", async () => {
    const { made, path } = await service(api, { type: "NodePort", ports: PORT });
    const before = at(made, "spec.ports.0.nodePort");
    const renumbered = accepted(await api.mergePatch(path, { spec: { ports: [{ port: 81 }] } }));
    assert.equal(at(renumbered, "spec.ports.0.nodePort"), before);
    const seen = new Set([before]);
    for (const name of ["new", "newer", "newest"]) {
      const renamed = accepted(await api.mergePatch(path, { spec: { ports: [{ name, port: 81 }] } }));
      assertNodePort(at(renamed, "spec.ports.0.nodePort"));
      seen.add(at(renamed, "spec.ports.0.nodePort"));
    }
    assert.notEqual(seen.size, 1, "the one that was freed may come again, but not three times");
  });

  test("Local to Cluster frees the health check port, and back allots one", async () => {
    const { path } = await service(api, { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: PORT });
    const policy = async (externalTrafficPolicy: string): Promise<unknown> =>
      at(accepted(await api.strategicPatch(path, { spec: { externalTrafficPolicy } })), "spec.healthCheckNodePort");
    assert.equal(await policy("Cluster"), undefined);
    assertNodePort(await policy("Local"));
  });
}

function typeChanges(api: Api): void {
  test("ClusterIP to LoadBalancer keeps the address and allots ports", async () => {
    const { made, path } = await service(api, { ports: PORT });
    const grown = accepted(await api.mergePatch(path, { spec: { type: "LoadBalancer" } }));
    assert.equal(at(grown, "spec.clusterIP"), at(made, "spec.clusterIP"));
    assertNodePort(at(grown, "spec.ports.0.nodePort"));
    partly(grown["spec"], { allocateLoadBalancerNodePorts: true, externalTrafficPolicy: "Cluster" });
  });

  test("LoadBalancer to ClusterIP drops all that belonged to it, status.loadBalancer too", async () => {
    const { made, path } = await service(api, {
      type: "LoadBalancer",
      loadBalancerClass: "example.com/lb",
      externalTrafficPolicy: "Local",
      ports: PORT,
    });
    const condition = {
      type: "A",
      status: "True",
      reason: "R",
      message: "m",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const status = { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] }, conditions: [condition] };
    accepted(await api.mergePatch(`${path}/status`, { status }));
    const shrunk = accepted(await api.mergePatch(path, { spec: { type: "ClusterIP" } }));
    assert.equal(at(shrunk, "spec.clusterIP"), at(made, "spec.clusterIP"));
    assert.equal(at(shrunk, "spec.ports.0.nodePort"), undefined);
    const dropped = [
      "loadBalancerClass",
      "allocateLoadBalancerNodePorts",
      "externalTrafficPolicy",
      "healthCheckNodePort",
    ];
    for (const field of dropped) assert.equal(at(shrunk, `spec.${field}`), undefined, field);
    assert.deepEqual(shrunk["status"], { conditions: [condition], loadBalancer: {} });
  });

  test("LoadBalancer to NodePort keeps the node ports", async () => {
    const { made, path } = await service(api, { type: "LoadBalancer", ports: PORT });
    const changed = accepted(await api.mergePatch(path, { spec: { type: "NodePort" } }));
    assert.equal(at(changed, "spec.ports.0.nodePort"), at(made, "spec.ports.0.nodePort"));
    assert.equal(at(changed, "spec.allocateLoadBalancerNodePorts"), undefined);
  });

  test("to ExternalName gives the addresses back", async () => {
    const { path } = await service(api, { ports: PORT });
    const body = { spec: { type: "ExternalName", externalName: "a.example.com" } };
    const changed = accepted(await api.mergePatch(path, body));
    assert.equal(at(changed, "spec.clusterIP"), undefined);
    const back = accepted(await api.mergePatch(path, { spec: { type: "ClusterIP", externalName: null } }));
    assert.match(String(at(back, "spec.clusterIP")), /^\d+\.\d+\.\d+\.\d+$/);
  });
}

function assertNodePort(port: unknown): void {
  assert.ok(typeof port === "number" && port >= 30_000 && port <= 32_767, `${String(port)} is no node port`);
}

async function service(api: Api, spec: object): Promise<{ path: string; made: KubeObject }> {
  const ns = await api.namespace();
  const made = await api.create(ns.in("services"), { metadata: { name: "a" }, spec });
  return { path: ns.in("services", "a"), made };
}
