/** Services that the server refuses, with the field that it names: our error messages lean on these. */
import { test } from "node:test";

import { type Api, accepted, refused } from "./api.ts";

interface Case {
  readonly what: string;
  readonly spec: object;
  readonly causes: readonly string[];
}

const PORTS = [{ port: 80 }];

const ON_CREATE: readonly Case[] = [
  { what: "no ports", spec: {}, causes: ["FieldValueRequired spec.ports"] },
  {
    what: "two ports without names",
    spec: { ports: [{ port: 80 }, { port: 81 }] },
    causes: ["FieldValueRequired spec.ports[0].name", "FieldValueRequired spec.ports[1].name"],
  },
  {
    what: "one name twice",
    spec: {
      ports: [
        { name: "a", port: 80 },
        { name: "a", port: 81 },
      ],
    },
    causes: ["FieldValueDuplicate spec.ports[1].name"],
  },
  {
    what: "one port and protocol twice",
    spec: {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 80 },
      ],
    },
    causes: ["FieldValueDuplicate spec.ports[1]"],
  },
  { what: "port 0", spec: { ports: [{ port: 0 }] }, causes: ["FieldValueInvalid spec.ports[0].port"] },
  { what: "port 65536", spec: { ports: [{ port: 65_536 }] }, causes: ["FieldValueInvalid spec.ports[0].port"] },
  {
    what: "an unknown protocol",
    spec: { ports: [{ port: 80, protocol: "ICMP" }] },
    causes: ["FieldValueNotSupported spec.ports[0].protocol"],
  },
  { what: "an unknown type", spec: { type: "Balancer", ports: PORTS }, causes: ["FieldValueNotSupported spec.type"] },
  {
    what: "a node port on ClusterIP",
    spec: { ports: [{ port: 80, nodePort: 30_001 }] },
    causes: ["FieldValueForbidden spec.ports[0].nodePort"],
  },
  {
    what: "a node port out of range",
    spec: { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] },
    causes: ["FieldValueInvalid spec.ports[0].nodePort"],
  },
  {
    what: "a clusterIP out of range",
    spec: { clusterIP: "192.168.1.1", ports: PORTS },
    causes: ["FieldValueInvalid spec.clusterIPs"],
  },
  {
    what: "a clusterIP that is none",
    spec: { clusterIP: "ten", ports: PORTS },
    causes: ["FieldValueInvalid spec.clusterIPs[0]"],
  },
  {
    what: "externalTrafficPolicy on ClusterIP",
    spec: { externalTrafficPolicy: "Local", ports: PORTS },
    causes: ["FieldValueInvalid spec.externalTrafficPolicy"],
  },
  {
    what: "an unknown externalTrafficPolicy",
    spec: { type: "LoadBalancer", externalTrafficPolicy: "Near", ports: PORTS },
    causes: ["FieldValueNotSupported spec.externalTrafficPolicy"],
  },
  {
    what: "RequireDualStack on a single stack",
    spec: { ipFamilyPolicy: "RequireDualStack", ports: PORTS },
    causes: ["FieldValueInvalid spec.ipFamilyPolicy"],
  },
  {
    what: "a source range that is no CIDR",
    spec: { type: "LoadBalancer", loadBalancerSourceRanges: ["10.0.0.1"], ports: PORTS },
    causes: ["FieldValueInvalid spec.LoadBalancerSourceRanges[0]"],
  },
  {
    what: "loadBalancerClass on ClusterIP",
    spec: { loadBalancerClass: "example.com/lb", ports: PORTS },
    causes: ["FieldValueForbidden spec.loadBalancerClass"],
  },
  {
    what: "a health check port without Local",
    spec: { type: "LoadBalancer", healthCheckNodePort: 30_999, ports: PORTS },
    causes: ["FieldValueInvalid spec.healthCheckNodePort"],
  },
];

export function serviceRefusals(api: Api): void {
  for (const { what, spec, causes } of ON_CREATE) {
    test(`refused: ${what}`, async () => {
      const ns = await api.namespace();
      const reply = await api.post(ns.in("services"), { metadata: { name: "a" }, spec });
      refused(reply, { code: 422, reason: "Invalid", causes, details: { kind: "Service", name: "a" } });
    });
  }

  test("refused: an address or a node port that another has", async () => {
    const ns = await api.namespace();
    const spec = { type: "NodePort", clusterIP: "10.0.88.88", ports: [{ port: 80, nodePort: 31_888 }] };
    await api.create(ns.in("services"), { metadata: { name: "a" }, spec });
    const same = async (part: object): ReturnType<Api["post"]> =>
      api.post(ns.in("services"), { metadata: { name: "b" }, spec: { type: "NodePort", ports: PORTS, ...part } });
    refused(await same({ clusterIP: "10.0.88.88" }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueInvalid spec.clusterIPs"],
    });
    refused(await same({ ports: [{ port: 80, nodePort: 31_888 }] }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueInvalid spec.ports[0].nodePort"],
    });
  });

  test("refused: another clusterIP, health check port or loadBalancerClass than before", async () => {
    const ns = await api.namespace();
    const path = ns.in("services", "a");
    const spec = {
      type: "LoadBalancer",
      loadBalancerClass: "example.com/lb",
      externalTrafficPolicy: "Local",
      ports: PORTS,
    };
    await api.create(ns.in("services"), { metadata: { name: "a" }, spec });
    const changes: [object, string][] = [
      [{ clusterIP: "10.0.99.99", clusterIPs: ["10.0.99.99"] }, "FieldValueInvalid spec.clusterIPs[0]"],
      [{ healthCheckNodePort: 32_766 }, "FieldValueForbidden spec.healthCheckNodePort"],
      [{ loadBalancerClass: "example.com/other" }, "FieldValueInvalid spec.loadBalancerClass"],
      [{ loadBalancerClass: null }, "FieldValueInvalid spec.loadBalancerClass"],
    ];
    for (const [change, cause] of changes) {
      refused(await api.mergePatch(path, { spec: change }), { code: 422, reason: "Invalid", causes: [cause] });
    }
  });

  test("refused: ingress that is no address, or on a Service of another type", async () => {
    const ns = await api.namespace();
    await api.create(ns.in("services"), { metadata: { name: "lb" }, spec: { type: "LoadBalancer", ports: PORTS } });
    await api.create(ns.in("services"), { metadata: { name: "plain" }, spec: { ports: PORTS } });
    const set = (name: string, ip: string): ReturnType<Api["get"]> =>
      api.mergePatch(`${ns.in("services", name)}/status`, { status: { loadBalancer: { ingress: [{ ip }] } } });
    accepted(await set("lb", "1.2.3.4"));
    refused(await set("lb", "one.two"), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueInvalid status.loadBalancer.ingress[0].ip"],
    });
    refused(await set("plain", "1.2.3.4"), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueForbidden status.loadBalancer.ingress"],
    });
  });
}
