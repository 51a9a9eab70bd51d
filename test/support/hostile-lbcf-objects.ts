/**
 * Objects of LBCF as no user should write them: each field is right, of a wrong type, empty, huge, or strange. Most of it
 * a schema refuses; what passes, and what was stored before there was a schema, must do no harm.
 */
import fc from "fast-check";

import { meta } from "./lbcf-objects.ts";

export const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("", "..", "a/b", "lbcf-x", "lbcf-azure", "__proto__", "\u0000", "x".repeat(100_000), "‮10.0.0.1"),
);
export const number = fc.constantFrom(-1, 0, 80, 65_536, 1e300, -0.5, Number.MAX_SAFE_INTEGER);
export const hostile = fc.oneof(fc.jsonValue({ maxDepth: 3 }), text, number, fc.constantFrom(null, [], {}, true));
export const map = fc.dictionary(text, or(text), { maxKeys: 3 });

/** Mostly right. */
export function or<T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 9, arbitrary: right }, { weight: 1, arbitrary: hostile });
}

/** With some of the fields, each right or not. */
export function shape(fields: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> {
  const each = Object.entries(fields).map(([key, field]) => [key, or(field)] as const);
  return fc.record(Object.fromEntries(each), { requiredKeys: [] });
}

const driverName = fc.constantFrom("wire", "lbcf-azure", "nobody", "lbcf-nobody");
const portNumber = fc.constantFrom(80, 8080, 0, -1, 65_536);
const port = shape({
  port: portNumber,
  portNumber,
  protocol: fc.constantFrom("TCP", "UDP", "tcp", "SCTP"),
});
const ensurePolicy = shape({
  policy: fc.constantFrom("Always", "IfNotSucc", "Never"),
  minPeriod: fc.constantFrom("30s", "0s", "1ns", "90.6s", `${"9".repeat(400)}h`, "-1m"),
  resyncPeriodInSeconds: number,
});
export const podSelection = shape({
  ports: fc.array(or(port), { maxLength: 3 }),
  port,
  byLabel: shape({ selector: fc.constantFrom({ app: "web" }, {}), except: fc.constantFrom(["web-0"], []) }),
  byName: fc.constantFrom(["web-0"], [""], []),
});
const azureSpec = shape({ name: fc.constantFrom("a-lb", "", "Ü/..", "x".repeat(300)), pool: text, other: text });
const attributes = shape({
  frontend: fc.constantFrom("internal", "public", "no-such"),
  rules: fc.constantFrom("80:8080", "80,80", "0", "99999", "53/UDP", "80@icmp", ",,"),
  maxBackends: fc.constantFrom("5", "-1", "1e99", "NaN"),
});
const group = {
  parameters: map,
  deregisterPolicy: fc.constantFrom("IfNotReady", "IfNotRunning", "Webhook", "Perhaps"),
  deregisterWebhook: shape({ driverName, failurePolicy: fc.constantFrom("DoNothing", "IfNotReady", "Never") }),
  ensurePolicy,
};

export const SPECS = {
  LoadBalancerDriver: shape({
    driverType: fc.constantFrom("Webhook", "Grpc"),
    url: fc.constantFrom("http://127.0.0.1:1", "https://[::1]:1/a/b", "http://127.0.0.1:99999", "file:///x", "http://"),
    caBundle: fc.constantFrom("", "eA==", "§"),
    webhooks: fc.array(or(shape({ name: fc.constantFrom("healthz", "ensureBackend"), timeout: text }))),
  }),
  LoadBalancer: shape({
    lbDriver: driverName,
    lbSpec: fc.oneof(azureSpec, map),
    attributes: fc.oneof(attributes, map),
    scope: fc.constantFrom([], ["*"], ["default"]),
    ensurePolicy,
  }),
  BackendGroup: shape({
    lbName: fc.constantFrom("lb", ""),
    loadBalancers: fc.constantFrom(["lb"], [], ["lb", "other", "lbcf-x", "../.."]),
    pods: podSelection,
    service: shape({ name: text, port, nodeSelector: map }),
    static: fc.array(text, { maxLength: 4 }),
    ...group,
  }),
  BackendRecord: shape({
    lbName: text,
    lbDriver: fc.constantFrom("lbcf-azure", "nobody", ""),
    lbInfo: fc.oneof(map, fc.constant({ pool: "/subscriptions/../x" })),
    podBackend: shape({ name: text, uid: text, port }),
    serviceBackend: shape({ name: text, port, nodePort: number, nodeName: text }),
    staticAddr: text,
    ensurePolicy,
  }),
  Bind: shape({
    loadBalancers: fc.array(
      or(shape({ name: fc.constantFrom("a", "b", "Ü"), driver: driverName, spec: azureSpec, attributes })),
      {
        maxLength: 3,
      },
    ),
    pods: podSelection,
    ...group,
  }),
} as const;

const conditions = fc.array(or(shape({ type: text, status: text, message: text, observedGeneration: number })));
const objectMeta = fc
  .tuple(
    shape({ labels: map, annotations: map, finalizers: fc.array(text), ownerReferences: fc.array(map) }),
    fc.nat(9),
  )
  .map(([more, generation]) => ({ ...meta("hostile"), ...more, generation }));

/** As they might be stored. */
export const groupObject = fc.record({
  metadata: objectMeta,
  spec: or(SPECS.BackendGroup),
  status: or(shape({ loadBalancers: fc.array(or(shape({ name: text, parameters: text }))), conditions })),
});
export const recordObject = fc.record({
  metadata: objectMeta,
  spec: or(SPECS.BackendRecord),
  status: or(shape({ backendAddr: text, generatedFrom: text, registeredAddr: text, injectedInfo: map, conditions })),
});
export const anyObject = fc.record({
  metadata: fc.oneof(objectMeta, hostile),
  spec: fc.oneof(hostile, SPECS.LoadBalancer, SPECS.Bind, SPECS.LoadBalancerDriver),
  status: hostile,
});
