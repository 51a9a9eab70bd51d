/**
 * LBCF's definitions as a real API server takes them: LBCF users' manifests apply unchanged, deprecated spellings
 * included, and what cannot be meant is refused with the field and a reason.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { parseAllDocuments } from "yaml";

import { HOOKS } from "../../../src/core/lbcf/drivers/webhook-protocol.ts";
import { readDefinitions } from "../../../src/main/lbcf-definitions.ts";
import type { Cluster, ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import type { Reply } from "../../support/kube-connection.ts";

const GROUP = "/apis/lbcf.tkestack.io";
const PATHS: Readonly<Record<string, string>> = {
  LoadBalancerDriver: `${GROUP}/v1beta1/namespaces/default/loadbalancerdrivers`,
  LoadBalancer: `${GROUP}/v1beta1/namespaces/default/loadbalancers`,
  BackendGroup: `${GROUP}/v1beta1/namespaces/default/backendgroups`,
  BackendRecord: `${GROUP}/v1beta1/namespaces/default/backendrecords`,
  Bind: `${GROUP}/v1/namespaces/default/binds`,
};

type Kind = keyof typeof PATHS;

export async function installDefinitions(cluster: Cluster): Promise<void> {
  for (const definition of readDefinitions()) {
    const reply = await cluster.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      body: definition,
    });
    assert.ok(reply.code === 201 || reply.code === 409, reply.text);
  }
  for (const path of Object.values(PATHS)) {
    await eventually(async () => assert.equal((await cluster.request("GET", path)).code, 200), 30_000);
  }
}

const byName = (...names: string[]): object => ({
  loadBalancers: ["web"],
  pods: { ports: [{ port: 80 }], byName: names },
});
const selecting = (selector: object): object => ({
  loadBalancers: ["web"],
  pods: { ports: [{ port: 80 }], byLabel: { selector } },
});
const service = (port: object): object => ({ loadBalancers: ["web"], service: { name: "svc", port } });
const pods = (more: object): object => ({
  loadBalancers: ["web"],
  pods: { ports: [{ port: 80 }], byLabel: { selector: { app: "nginx" } } },
  ...more,
});

const podPorts = (...ports: object[]): object => pods({ pods: { ports, byName: ["a"] } });

/** Kind, what it shows, spec. */
const GOOD: readonly (readonly [Kind, string, object])[] = [
  ["LoadBalancerDriver", "a driver with a url alone", { driverType: "Webhook", url: "http://10.0.3.16:11029" }],
  [
    "LoadBalancerDriver",
    "a driver with some timeouts and a path",
    {
      driverType: "Webhook",
      url: "http://driver.kube-system.svc/lbcf",
      webhooks: [
        { name: "validateLoadBalancer", timeout: "15s" },
        { name: "ensureBackend", timeout: "1m" },
        { name: "healthz" },
      ],
    },
  ],
  [
    "LoadBalancerDriver",
    "a driver that lists every hook, as LBCF wants it",
    {
      driverType: "Webhook",
      url: "http://10.0.3.16:11029",
      acceptDryRunCall: true,
      webhooks: HOOKS.map((hook) => ({ name: hook, timeout: "20s" })),
    },
  ],
  [
    "LoadBalancer",
    "a load balancer as LBCF's guide has it",
    {
      lbDriver: "lbcf-clb-driver",
      lbSpec: { vpcID: "vpc-b5hcoxj4", listenerPort: "9999" },
      ensurePolicy: { policy: "Always" },
    },
  ],
  ["LoadBalancer", "a period", { lbDriver: "d", ensurePolicy: { policy: "Always", minPeriod: "1m30s" } }],
  ["LoadBalancer", "maps that are null", { lbDriver: "d", lbSpec: null, attributes: null }],
  [
    "BackendGroup",
    "deprecated lbName, port and portNumber",
    {
      lbName: "example-load-balancer",
      pods: { port: { portNumber: 80, protocol: "TCP" }, byLabel: { selector: { "k8s-app": "kube-dns" } } },
      parameters: { weight: "100" },
    },
  ],
  ["BackendGroup", "a Service", { lbName: "web", service: { name: "svc-test", port: { portNumber: 80 } } }],
  ["BackendGroup", "static addresses", { loadBalancers: ["web"], static: ["1.1.1.1:8080", "my-web.com:8080"] }],
  ["BackendGroup", "no backends at all", { loadBalancers: ["web"] }],
  ["BackendGroup", "pods by name, of which there are none", byName()],
  ["BackendGroup", "a port of 0 beside portNumber", service({ port: 0, portNumber: 81 })],
  ["BackendGroup", "a portNumber of 0 beside port", podPorts({ port: 81, portNumber: 0 })],
  [
    "BackendGroup",
    "label keys and values of every form",
    selecting({ app: "", "example.com/app": "A_b.c-9", [`${"a".repeat(253)}/${"b".repeat(63)}`]: "c".repeat(63) }),
  ],
  ["BackendGroup", "pods by name", { lbName: "web", pods: { ports: [{ port: 80 }], byName: ["web-0"] } }],
  [
    "BackendGroup",
    "a webhook that judges",
    pods({ deregisterPolicy: "Webhook", deregisterWebhook: { driverName: "d", failurePolicy: "IfNotReady" } }),
  ],
  [
    "BackendGroup",
    "two ports that differ in protocol",
    pods({ pods: { ports: [{ port: 53 }, { port: 53, protocol: "UDP" }], byLabel: { selector: { a: "b" } } } }),
  ],
  [
    "Bind",
    "a Bind",
    {
      loadBalancers: [{ name: "one", driver: "d", spec: { id: "1" }, attributes: { a: "b" } }],
      pods: { ports: [{ port: 80, protocol: "tcp" }], byLabel: { selector: { app: "web" } } },
      deregisterPolicy: "IfNotRunning",
      ensurePolicy: { policy: "Always", resyncPeriodInSeconds: 30 },
    },
  ],
];

const bindTo = (more: object): object =>
  bind({ loadBalancers: [{ name: "one", driver: "d", spec: { id: "1" }, ...more }] });
const bind = (more: object): object => ({
  loadBalancers: [{ name: "one", driver: "d", spec: { id: "1" } }],
  pods: { ports: [{ port: 80, protocol: "TCP" }], byName: ["a"] },
  ...more,
});
const PORT = { port: 80, protocol: "TCP" };
const huge = "x".repeat(10_000);

/** Kind, what is wrong, spec, the field that is named. */
const BAD: readonly (readonly [Kind, string, object, RegExp])[] = [
  ["LoadBalancerDriver", "another type", { driverType: "Grpc", url: "http://a" }, /spec\.driverType/],
  ["LoadBalancerDriver", "no url", { driverType: "Webhook", url: "driver:80" }, /spec\.url/],
  [
    "LoadBalancerDriver",
    "a timeout above a minute",
    { driverType: "Webhook", url: "http://a", webhooks: [{ name: "healthz", timeout: "61s" }] },
    /timeout/,
  ],
  [
    "LoadBalancerDriver",
    "an unknown hook",
    { driverType: "Webhook", url: "http://a", webhooks: [{ name: "reboot" }] },
    /spec\.webhooks/,
  ],
  ["LoadBalancerDriver", "a query", { driverType: "Webhook", url: "http://a/?b=c" }, /spec\.url/],
  [
    "LoadBalancerDriver",
    "a timeout of nothing",
    { driverType: "Webhook", url: "http://a", webhooks: [{ name: "healthz", timeout: "0s" }] },
    /timeout must be above 0s/,
  ],
  [
    "LoadBalancerDriver",
    "a hook twice",
    { driverType: "Webhook", url: "http://a", webhooks: [{ name: "healthz" }, { name: "healthz" }] },
    /spec\.webhooks/,
  ],
  ["LoadBalancerDriver", "a bundle in clear", { driverType: "Webhook", url: "https://a", caBundle: "--" }, /caBundle/],
  ["LoadBalancer", "no driver", { lbSpec: {} }, /spec\.lbDriver/],
  ["LoadBalancer", "an empty driver", { lbDriver: "" }, /spec\.lbDriver/],
  ["LoadBalancer", "a number in lbSpec", { lbDriver: "d", lbSpec: { vpc: 5 } }, /spec\.lbSpec\.vpc/],
  ["LoadBalancer", "a huge attribute", { lbDriver: "d", attributes: { a: huge } }, /spec\.attributes/],
  ["LoadBalancer", "a list as attributes", { lbDriver: "d", attributes: ["a"] }, /spec\.attributes/],
  ["BackendGroup", "a negative port", podPorts({ port: -1 }), /spec\.pods\.ports\[0\]\.port/],
  ["BackendGroup", "a port of 1.5", podPorts({ port: 1.5 }), /spec\.pods\.ports\[0\]\.port/],
  ["BackendGroup", "a port that is none", podPorts({}), /port is required/],
  ["BackendGroup", "a protocol that is none", podPorts({ port: 80, protocol: "SCTP" }), /protocol/],
  ["BackendGroup", "no ports in the list", podPorts(), /at least one port/],
  ["BackendGroup", "an empty list of load balancers", { loadBalancers: [], static: ["a"] }, /loadBalancers/],
  ["BackendGroup", "an empty address", { loadBalancers: ["web"], static: [""] }, /spec\.static\[0\]/],
  ["BackendGroup", "pods that are a text", pods({ pods: "all" }), /spec\.pods/],
  ["BackendGroup", "huge parameters", pods({ parameters: { weight: huge } }), /spec\.parameters/],
  ["BackendGroup", "a port of 0", service({ port: 0 }), /port is required/],
  ["BackendGroup", "two ports of 0", service({ port: 0, portNumber: 0 }), /port is required/],
  ["BackendGroup", "a label with a blank", selecting({ app: "a b" }), /selector/],
  ["BackendGroup", "a label that is too long", selecting({ app: "a".repeat(64) }), /selector/],
  ["BackendGroup", "a label key with a blank", selecting({ "a b": "c" }), /keys must be label keys/],
  ["BackendGroup", "a label key of nothing", selecting({ "": "c" }), /keys must be label keys/],
  ["BackendGroup", "a label key with two slashes", selecting({ "a/b/c": "d" }), /keys must be label keys/],
  [
    "BackendGroup",
    "both ways to select, one of them empty",
    pods({ pods: { ports: [{ port: 1 }], byName: [], byLabel: { selector: { a: "b" } } } }),
    /exactly one of byLabel and byName/,
  ],
  ["Bind", "a load balancer of nothing", bindTo({ spec: {} }), /loadBalancers\[0\]\.spec/],
  ["Bind", "a blank driver", bindTo({ driver: " " }), /loadBalancers\[0\]\.driver/],
  ["Bind", "a label with a slash", bind({ pods: { ports: [PORT], byLabel: { selector: { a: "b/c" } } } }), /selector/],
  ["Bind", "no load balancers", bind({ loadBalancers: [] }), /spec\.loadBalancers/],
  [
    "Bind",
    "a load balancer twice",
    bind({ loadBalancers: ["1", "2"].map((id) => ({ name: "one", driver: "d", spec: { id } })) }),
    /spec\.loadBalancers/,
  ],
  [
    "Bind",
    "a name that is none",
    bind({ loadBalancers: [{ name: "Üpper/..", driver: "d", spec: {} }] }),
    /loadBalancers\[0\]\.name/,
  ],
  [
    "Bind",
    "a port twice",
    bind({ pods: { ports: [1, 2].map(() => ({ port: 80, protocol: "TCP" })), byName: ["a"] } }),
    /a port is given twice/,
  ],
  [
    "Bind",
    "a short period",
    bind({ ensurePolicy: { policy: "Always", resyncPeriodInSeconds: 9 } }),
    /resyncPeriodInSeconds/,
  ],
  ["LoadBalancer", "another policy", { lbDriver: "d", ensurePolicy: { policy: "Never" } }, /ensurePolicy\.policy/],
  [
    "LoadBalancer",
    "a short period",
    { lbDriver: "d", ensurePolicy: { policy: "Always", minPeriod: "5s" } },
    /minPeriod/,
  ],
  ["LoadBalancer", "a period without Always", { lbDriver: "d", ensurePolicy: { minPeriod: "60s" } }, /ensurePolicy/],
  ["LoadBalancer", "a scope without lbcf-", { lbDriver: "d", scope: ["*"] }, /spec\.scope/],
  ["BackendGroup", "no load balancer", { static: ["1.1.1.1"] }, /loadBalancers/],
  ["BackendGroup", "two types", pods({ static: ["1.1.1.1"] }), /only one of service, pods and static/],
  [
    "BackendGroup",
    "a port of 70000",
    pods({ pods: { ports: [{ port: 70_000 }], byName: ["a"] } }),
    /spec\.pods\.ports/,
  ],
  [
    "BackendGroup",
    "a port twice",
    pods({ pods: { ports: [{ port: 80 }, { port: 80, protocol: "TCP" }], byName: ["a"] } }),
    /a port is given twice/,
  ],
  ["BackendGroup", "no ports", pods({ pods: { byName: ["a"] } }), /at least one port/],
  [
    "BackendGroup",
    "both ways to select",
    pods({ pods: { ports: [{ port: 1 }], byName: ["a"], byLabel: { selector: { a: "b" } } } }),
    /exactly one of byLabel and byName/,
  ],
  [
    "BackendGroup",
    "an empty selector",
    pods({ pods: { ports: [{ port: 1 }], byLabel: { selector: {} } } }),
    /selector/,
  ],
  ["BackendGroup", "Webhook without one", pods({ deregisterPolicy: "Webhook" }), /deregisterWebhook/],
  [
    "Bind",
    "no driver",
    { loadBalancers: [{ name: "a", spec: {} }], pods: { ports: [] } },
    /loadBalancers\[0\]\.driver/,
  ],
];

interface Explained {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Explained>>;
  readonly items?: Explained;
}

/** The fields of spec and status that say nothing, by their paths. */
function unexplained(schema: Explained, path: string): readonly string[] {
  const inItems = schema.items === undefined ? [] : unexplained(schema.items, `${path}[]`);
  const fields = Object.entries(schema.properties ?? {}).filter(([field]) => field !== "metadata");
  return [
    ...inItems,
    ...fields.flatMap(([field, each]) => [
      ...((each.description ?? "") === "" ? [`${path}.${field}`] : []),
      ...unexplained(each, `${path}.${field}`),
    ]),
  ];
}

export function lbcfDefinitions(name: string, open: ClusterOpener): void {
  describe(`LBCF's definitions on ${name}`, () => {
    let cluster: Cluster;
    let made = 0;

    before(async () => {
      cluster = await open();
      await installDefinitions(cluster);
    });

    after(() => cluster.close());

    const create = (kind: Kind, spec: object): Promise<Reply> => {
      const metadata = { name: `object-${++made}` };
      const apiVersion = kind === "Bind" ? "lbcf.tkestack.io/v1" : "lbcf.tkestack.io/v1beta1";
      const query = "?fieldValidation=Strict";
      return cluster.request("POST", `${PATHS[kind]}${query}`, { body: { apiVersion, kind, metadata, spec } });
    };

    const update = async (kind: Kind, object: Reply["body"], spec: object): Promise<Reply> => {
      const body = { ...object, spec };
      return cluster.request("PUT", `${PATHS[kind]}/${object.metadata.name}`, { body });
    };

    for (const [kind, what, spec] of GOOD) {
      test(`${kind}: ${what} is taken`, async () => {
        const reply = await create(kind, spec);
        assert.equal(reply.code, 201, reply.text);
      });
    }

    for (const [kind, what, spec, field] of BAD) {
      test(`${kind}: ${what} is refused`, async () => {
        const reply = await create(kind, spec);
        assert.equal(reply.code, 422, reply.text);
        assert.match(reply.text, field);
      });
    }

    test("the example's manifests are taken as they are", async () => {
      const folder = join(import.meta.dirname, "../../../examples/lbcf");
      for (const file of readdirSync(folder).filter((each) => each.endsWith(".yaml"))) {
        for (const document of parseAllDocuments(readFileSync(join(folder, file), "utf8"))) {
          const manifest = document.toJS() as { kind: Kind };
          const path = PATHS[manifest.kind] ?? "/api/v1/namespaces/default/pods";
          const reply = await cluster.request("POST", `${path}?fieldValidation=Strict`, { body: manifest });
          assert.equal(reply.code, 201, reply.text);
        }
      }
    });

    test("kubectl explain has a word on every field", async () => {
      for (const version of ["v1beta1", "v1"]) {
        const { body } = await cluster.request("GET", `/openapi/v3/apis/lbcf.tkestack.io/${version}`);
        const { schemas } = body["components"] as { schemas: Readonly<Record<string, Explained>> };
        const kinds = Object.keys(PATHS).filter((kind) => (kind === "Bind") === (version === "v1"));
        for (const kind of kinds) {
          const schema = Object.entries(schemas).find(([key]) => key.endsWith(`.${kind}`))?.[1];
          assert.ok(schema, `${kind} in ${Object.keys(schemas).join()}`);
          assert.deepEqual(unexplained(schema, kind), []);
        }
      }
    });

    test("defaults are filled in", async () => {
      const { body } = await create("BackendGroup", pods({ ensurePolicy: {} }));
      const spec = body["spec"] as Record<string, unknown>;
      assert.equal(spec["deregisterPolicy"], "IfNotReady");
      assert.deepEqual(spec["ensurePolicy"], { policy: "IfNotSucc" });
      assert.deepEqual((spec["pods"] as Record<string, unknown>)["ports"], [{ port: 80, protocol: "TCP" }]);
    });

    const FIXED: readonly (readonly [Kind, string, object, object, RegExp])[] = [
      ["LoadBalancer", "lbDriver", { lbDriver: "a" }, { lbDriver: "b" }, /lbDriver cannot be changed/],
      [
        "LoadBalancer",
        "lbSpec",
        { lbDriver: "a", lbSpec: { a: "1" } },
        { lbDriver: "a", lbSpec: { a: "2" } },
        /lbSpec/,
      ],
      ["BackendGroup", "the type", { lbName: "a", static: ["1"] }, pods({}), /cannot be changed/],
    ];

    for (const [kind, what, first, second, message] of FIXED) {
      test(`${kind}: ${what} cannot be changed`, async () => {
        const { body } = await create(kind, first);
        const reply = await update(kind, body, second);
        assert.equal(reply.code, 422, reply.text);
        assert.match(reply.text, message);
      });
    }

    const CHANGES: readonly (readonly [Kind, string, object, object])[] = [
      [
        "LoadBalancerDriver",
        "url, where the driver has moved",
        { driverType: "Webhook", url: "http://a" },
        { driverType: "Webhook", url: "http://b" },
      ],
      ["BackendGroup", "static, to none", { lbName: "a", static: ["1"] }, { lbName: "a" }],
      ["BackendGroup", "static, from none", { lbName: "a" }, { lbName: "a", static: ["1"] }],
      ["BackendGroup", "byName, to none", byName("a"), byName()],
    ];

    for (const [kind, what, first, second] of CHANGES) {
      test(`${kind}: ${what} can be changed`, async () => {
        const { body } = await create(kind, first);
        const reply = await update(kind, body, second);
        assert.equal(reply.code, 200, reply.text);
      });
    }

    test("a Bind's load balancer cannot turn into another, but can leave", async () => {
      const one = { name: "one", driver: "d", spec: { id: "1" } };
      const rest = { pods: { ports: [{ port: 80, protocol: "TCP" }], byName: ["a"] } };
      const { body } = await create("Bind", { loadBalancers: [one, { ...one, name: "two" }], ...rest });
      const changed = await update("Bind", body, { loadBalancers: [{ ...one, spec: { id: "2" } }], ...rest });
      assert.equal(changed.code, 422, changed.text);
      const left = await update("Bind", body, { loadBalancers: [one], ...rest });
      assert.equal(left.code, 200, left.text);
    });

    test("attributes, parameters and policies can be changed", async () => {
      const { body } = await create("LoadBalancer", { lbDriver: "a", lbSpec: { a: "1" }, attributes: { x: "1" } });
      const spec = { lbDriver: "a", lbSpec: { a: "1" }, attributes: { x: "2" }, ensurePolicy: { policy: "Always" } };
      assert.equal((await update("LoadBalancer", body, spec)).code, 200);
    });
  });
}
