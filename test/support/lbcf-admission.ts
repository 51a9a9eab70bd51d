/**
 * What LBCF's admission webhooks say to one object of a namespace, as far as the object itself decides: a model written from the
 * documented rules (Go's decoding included), not LBCF's code. Lookups (drivers, load balancers) and drivers' words are taken to
 * succeed. `unknown`: neither its documents nor what was seen of it tell.
 */
export type Verdict =
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "unknown"; readonly why: string };

type Json = Readonly<Record<string, unknown>>;

class Refusal extends Error {}
class Unknown extends Error {}

const HOOKS = new Set([
  "validateLoadBalancer",
  "createLoadBalancer",
  "ensureLoadBalancer",
  "deleteLoadBalancer",
  "validateBackend",
  "generateBackendAddr",
  "ensureBackend",
  "deregisterBackend",
  "healthz",
]);
const INT32 = 2 ** 31;
const MINUTE_S = 60;
const SHORTEST_PERIOD_S = 30;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const LABEL_KEY = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

export function lbcfVerdict(kind: string, spec: unknown): Verdict {
  try {
    RULES[kind]?.(struct(spec, "spec"));
    return { kind: "accepted" };
  } catch (error) {
    if (error instanceof Refusal) return { kind: "refused", why: error.message };
    if (error instanceof Unknown) return { kind: "unknown", why: error.message };
    throw error;
  }
}

const RULES: Readonly<Record<string, (spec: Json) => void>> = {
  LoadBalancerDriver: driver,
  LoadBalancer: loadBalancer,
  BackendGroup: backendGroup,
  Bind: bind,
};

function driver(spec: Json): void {
  const url = text(spec, "url");
  bool(spec, "acceptDryRunCall");
  must(text(spec, "driverType") === "Webhook", "driverType must be Webhook");
  if (url === "") throw new Unknown("an empty url");
  if ("caBundle" in spec) throw new Unknown("a field that LBCF has not");
  must(!/[\s%]|^:/.test(url), "url must parse");
  const seen = new Set<string>();
  for (const hook of list(spec, "webhooks").map((each) => struct(each, "webhooks"))) {
    const name = text(hook, "name");
    const seconds = duration(hook, "timeout");
    must(HOOKS.has(name), `webhook ${name} is not known`);
    if (seen.has(name)) throw new Unknown("a hook twice");
    seen.add(name);
    must(seconds !== undefined && seconds > 0 && seconds <= MINUTE_S, "timeout must be above 0s, and at most 1m");
  }
}

function loadBalancer(spec: Json): void {
  map(spec, "lbSpec");
  map(spec, "attributes");
  must(/^\S+$/.test(text(spec, "lbDriver")), "lbDriver must exist");
  must(texts(spec, "scope").length === 0, "scope needs the prefix lbcf-");
  ensurePolicy(spec);
}

function ensurePolicy(spec: Json): void {
  const policy = optionalStruct(spec, "ensurePolicy");
  if (policy === undefined) return;
  const name = text(policy, "policy");
  const seconds = duration(policy, "minPeriod");
  if (name === "Always") must(seconds === undefined || seconds >= SHORTEST_PERIOD_S, "minPeriod must be 30s at least");
  else if (name === "IfNotSucc") must(seconds === undefined, "minPeriod is for Always");
  else if (seconds !== undefined) throw new Unknown("minPeriod beside a policy that is none");
}

function backendGroup(spec: Json): void {
  const lbs = [...texts(spec, "loadBalancers"), ...(text(spec, "lbName") === "" ? [] : [text(spec, "lbName")])];
  map(spec, "parameters");
  const service = optionalStruct(spec, "service");
  const pods = optionalStruct(spec, "pods");
  const addresses = texts(spec, "static");
  must(lbs.length > 0, "loadBalancers is required");
  if (lbs.includes("")) throw new Unknown("a load balancer without a name");
  const types = [service, pods, addresses.length > 0 ? addresses : undefined].filter((each) => each !== undefined);
  must(types.length <= 1, "only one of service, pods and static");
  if (addresses.includes("")) throw new Unknown("an empty address");
  if (service !== undefined) {
    if (text(service, "name") === "") throw new Unknown("a Service without a name");
    labels(map(service, "nodeSelector"));
    groupPort(struct(service["port"], "service.port"));
  }
  if (pods !== undefined) {
    const old = optionalStruct(pods, "port");
    const ports = [...list(pods, "ports").map((each) => struct(each, "ports")), ...(old === undefined ? [] : [old])];
    must(ports.length > 0, "ports are required");
    ports.forEach(groupPort);
    selection(pods);
    noneTwice(ports);
  }
  deregister(spec, ["", "IfNotReady", "IfNotRunning", "Webhook"]);
  ensurePolicy(spec);
}

function groupPort(selector: Json): void {
  const number = int(selector, "port") || int(selector, "portNumber");
  const protocol = text(selector, "protocol");
  must(number >= 1 && number <= 65_535, "port must be 1 to 65535");
  must(["", "TCP", "UDP"].includes(protocol), "protocol must be TCP or UDP");
  if (int(selector, "port") !== 0 && int(selector, "portNumber") !== 0) throw new Unknown("port and portNumber");
}

function selection(pods: Json): void {
  const byLabel = optionalStruct(pods, "byLabel");
  const hasNames = pods["byName"] !== undefined && pods["byName"] !== null;
  const names = texts(pods, "byName");
  if (byLabel !== undefined) {
    texts(byLabel, "except");
    const selector = map(byLabel, "selector");
    if (hasNames && names.length === 0) throw new Unknown("byLabel beside no names");
    must(Object.keys(selector).length > 0, "selector must not be empty");
    labels(selector);
  }
  must((byLabel !== undefined) !== hasNames, "exactly one of byLabel and byName");
}

function labels(selector: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(selector)) {
    must(LABEL_KEY.test(key) && LABEL_VALUE.test(value) && value.length <= 63, "labels must be valid");
  }
}

function noneTwice(ports: readonly Json[]): void {
  const all = ports.map((each) => `${int(each, "port") || int(each, "portNumber")}/${text(each, "protocol") || "TCP"}`);
  if (new Set(all.map((each) => each.toUpperCase())).size < all.length) throw new Unknown("a port twice");
}

function deregister(spec: Json, policies: readonly string[]): void {
  const policy = text(spec, "deregisterPolicy");
  const webhook = optionalStruct(spec, "deregisterWebhook");
  const onFailure = webhook === undefined ? "" : text(webhook, "failurePolicy");
  const name = webhook === undefined ? "" : text(webhook, "driverName");
  must(policies.includes(policy), "deregisterPolicy");
  if (policy !== "Webhook") {
    if (webhook !== undefined) throw new Unknown("deregisterWebhook without its policy");
    return;
  }
  must(webhook !== undefined && name !== "", "deregisterWebhook is required");
  must(["", "DoNothing", "IfNotReady", "IfNotRunning"].includes(onFailure), "failurePolicy");
}

function bind(spec: Json): void {
  map(spec, "parameters");
  const lbs = list(spec, "loadBalancers").map((each) => struct(each, "loadBalancers"));
  if (lbs.length === 0) throw new Unknown("no load balancers");
  const names = new Set<string>();
  for (const lb of lbs) {
    const name = text(lb, "name");
    map(lb, "attributes");
    must(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name) && name.length <= 63, "name must be a DNS label");
    must(!names.has(name), "name must be unique");
    names.add(name);
    must(/^\S+$/.test(text(lb, "driver")), "driver must exist");
    must(Object.keys(map(lb, "spec")).length > 0, "spec is required");
  }
  const pods = optionalStruct(spec, "pods");
  if (pods === undefined) throw new Unknown("no pods");
  const ports = list(pods, "ports").map((each) => struct(each, "ports"));
  if (ports.length === 0) throw new Unknown("no ports");
  for (const port of ports) {
    must(int(port, "port") !== 0, "port is required");
    must(/^(tcp|udp)$/i.test(text(port, "protocol")), "protocol must be tcp or udp");
  }
  selection(pods);
  noneTwice(ports);
  // LBCF's check is the wrong way round: what its documents name is refused
  must(!["IfNotReady", "IfNotRunning", "Webhook"].includes(text(spec, "deregisterPolicy")), "deregisterPolicy");
  if (text(spec, "deregisterPolicy") !== "") throw new Unknown("a deregisterPolicy that is none");
  if (optionalStruct(spec, "deregisterWebhook") !== undefined) throw new Unknown("deregisterWebhook of a Bind");
  const policy = optionalStruct(spec, "ensurePolicy");
  if (policy === undefined) return;
  must(["IfNotSucc", "Always"].includes(text(policy, "policy")), "policy must be IfNotSucc or Always");
  if (policy["resyncPeriodInSeconds"] === undefined || policy["resyncPeriodInSeconds"] === null) return;
  must(int(policy, "resyncPeriodInSeconds") >= 10, "resyncPeriodInSeconds must be 10 at least");
}

function must(holds: boolean, why: string): asserts holds {
  if (!holds) throw new Refusal(why);
}

/** As Go decodes: absent and null are empty, another type is an error. */
function struct(value: unknown, what: string): Json {
  if (value === undefined || value === null) return {};
  must(typeof value === "object" && !Array.isArray(value), `${what} must be an object`);
  return value as Json;
}

function optionalStruct(json: Json, key: string): Json | undefined {
  const value = json[key];
  return value === undefined || value === null ? undefined : struct(value, key);
}

function text(json: Json, key: string): string {
  const value = json[key] ?? "";
  must(typeof value === "string", `${key} must be a string`);
  return value;
}

function bool(json: Json, key: string): void {
  must(typeof (json[key] ?? false) === "boolean", `${key} must be a bool`);
}

function int(json: Json, key: string): number {
  const value = json[key] ?? 0;
  must(typeof value === "number" && Number.isInteger(value) && Math.abs(value) < INT32, `${key} must be an int32`);
  return value;
}

function list(json: Json, key: string): readonly unknown[] {
  const value = json[key] ?? [];
  must(Array.isArray(value), `${key} must be a list`);
  return value as readonly unknown[];
}

function texts(json: Json, key: string): readonly string[] {
  return list(json, key).map((each) => text({ each }, "each"));
}

function map(json: Json, key: string): Readonly<Record<string, string>> {
  const value = struct(json[key], key);
  return Object.fromEntries(Object.keys(value).map((each) => [each, text(value, each)]));
}

/** In seconds. */
function duration(json: Json, key: string): number | undefined {
  const written = json[key];
  if (written === undefined || written === null) return undefined;
  must(typeof written === "string", `${key} must be a duration`);
  const units: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3_600 };
  if (/^[-+]?0$/.test(written)) return 0;
  must(/^[-+]?(\d+(\.\d*)?(ns|us|ms|s|m|h))+$/.test(written), `${key} must be a duration`);
  const parts = [...written.matchAll(/(\d+(?:\.\d*)?)(ns|us|ms|s|m|h)/g)];
  const seconds = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit ?? "s"] ?? 1), 0);
  return written.startsWith("-") ? -seconds : seconds;
}
