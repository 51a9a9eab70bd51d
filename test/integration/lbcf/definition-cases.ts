/** Specs of LBCF's kinds that the definitions take, and specs that they refuse, with the field that the refusal names. */
import { HOOKS } from "../../../src/core/lbcf/drivers/webhook-protocol.ts";

export const byName = (...names: string[]): object => ({
  loadBalancers: ["web"],
  pods: { ports: [{ port: 80 }], byName: names },
});
const selecting = (selector: object): object => ({
  loadBalancers: ["web"],
  pods: { ports: [{ port: 80 }], byLabel: { selector } },
});
const service = (port: object): object => ({ loadBalancers: ["web"], service: { name: "svc", port } });
export const pods = (more: object): object => ({
  loadBalancers: ["web"],
  pods: { ports: [{ port: 80 }], byLabel: { selector: { app: "nginx" } } },
  ...more,
});

const podPorts = (...ports: object[]): object => pods({ pods: { ports, byName: ["a"] } });

/** Kind, what it shows, spec. */
export const GOOD: readonly (readonly [kind: string, what: string, spec: object])[] = [
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
    "a driver that lists judgePodDeregister, too",
    {
      driverType: "Webhook",
      url: "http://10.0.3.16:11029",
      acceptDryRunCall: true,
      webhooks: HOOKS.map((hook) => ({ name: hook, timeout: "20s" })),
    },
  ],
  [
    "LoadBalancerDriver",
    "a driver that lists every hook that LBCF knows",
    {
      driverType: "Webhook",
      url: "http://10.0.3.16:11029/path",
      webhooks: HOOKS.filter((hook) => hook !== "judgePodDeregister").map((hook) => ({ name: hook, timeout: "20s" })),
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
  [
    "BackendGroup",
    "some of the nodes behind a Service",
    { lbName: "web", service: { name: "svc", port: { port: 80 }, nodeSelector: { "example.com/zone": "a" } } },
  ],
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
    "a Bind without policies",
    {
      loadBalancers: [{ name: "one", driver: "d", spec: { id: "1" } }],
      pods: { ports: [{ port: 80, protocol: "UDP" }], byLabel: { selector: { app: "web" }, except: ["web-0"] } },
      parameters: { weight: "1" },
    },
  ],
  [
    "Bind",
    "a Bind whose backends are always ensured",
    {
      loadBalancers: [
        { name: "one", driver: "d", spec: { id: "1" }, attributes: { a: "b" } },
        { name: "two", driver: "d", spec: { id: "2" } },
      ],
      pods: { ports: [{ port: 80, protocol: "tcp" }], byName: ["web-0"] },
      ensurePolicy: { policy: "Always", resyncPeriodInSeconds: 30 },
    },
  ],
  [
    "Bind",
    "a Bind with a policy",
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
export const BAD: readonly (readonly [kind: string, what: string, spec: object, field: RegExp])[] = [
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
    "a node's label key that is none",
    { loadBalancers: ["web"], service: { name: "svc", port: { port: 80 }, nodeSelector: { "a./-b": "c" } } },
    /nodeSelector/,
  ],
  [
    "BackendGroup",
    "a node's label with a blank",
    { loadBalancers: ["web"], service: { name: "svc", port: { port: 80 }, nodeSelector: { zone: "a b" } } },
    /nodeSelector/,
  ],
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
