/**
 * The recorded states of the incumbent, as scenarios that anything which serves Services can be put through: the core
 * alone, or the whole controller against the emulator. Reads the recordings, brings a real state into their form
 * (`comparable`), turns their form into a real state (`realised`), and says where two states differ.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "..", "fixtures", "incumbent-states");

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

interface Manifest {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: JsonObject & { readonly type: string };
}

export interface Doing {
  /** `spec.loadBalancerIP` may be `$svcip:{name}`: the address that another Service has. */
  readonly apply?: Manifest;
  /** The apply is to be refused. */
  readonly fail?: boolean;
  /** Keys without `service.beta.kubernetes.io/`. */
  readonly annotate?: readonly [name: string, annotations: Readonly<Record<string, string>>];
  readonly patch?: readonly [name: string, patch: JsonObject];
  readonly delete?: string;
  readonly arm?: readonly [method: string, path: string, body: JsonObject];
}

interface Step {
  readonly do: Doing;
  readonly settled?: { readonly ingress?: number; readonly state: RecordedState; readonly events?: readonly string[] };
}

/** By `{kind}/{name}`. */
export type RecordedState = Readonly<Record<string, JsonObject>>;

export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** By scenario: what we do not share, each a defect of the incumbent. */
export const NOT_SHARED: Readonly<Record<string, readonly RegExp[]>> = {
  // A refused Service has nothing in Azure: the incumbent makes the public IP before it reads the annotation.
  "bad-idle-timeout": [/^publicIPAddresses\/kubernetes-<bi>: recorded, but not found$/],
  // The incumbent leaves the public address open after it has released it.
  "flip-to-internal": [/^networkSecurityGroups\/nsg.properties.securityRules: recorded .*k8s-azure-lb_allow_IPv4_d39/],
  // Rules for nodes are named after their Service: by its node port alone a rule may be another cluster's.
  "no-floating-ip": [
    /\.name: recorded "k8s-azure-lb_allow_IPv4_\w+", found "k8s-azure-lb_<no-floating-ip>_allow_IPv4_\w+"$/,
  ],
};

export function readScenarios(): Scenario[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".json"));
  return files.sort().map((file) => {
    const text = readFileSync(join(FOLDER, file), "utf8");
    return withNodePorts(JSON.parse(withHealthPorts(text)) as Scenario);
  });
}

/**
 * Node ports enter the names of rules that open them, as a hash. These are the ports that have the recorded hash (found
 * by trying all pairs), so the Service must be given them.
 */
const NODE_PORTS: Readonly<Record<string, Readonly<Record<number, number>>>> = {
  "no-floating-ip": { 80: 31_737, 443: 31_626 },
};

function withNodePorts(scenario: Scenario): Scenario {
  const given = NODE_PORTS[scenario.name];
  if (given === undefined) return scenario;
  const steps = scenario.steps.map((step) => {
    const { apply } = step.do;
    if (apply === undefined) return step;
    const ports = (apply.spec["ports"] as readonly JsonObject[]).map((port) => {
      const nodePort = given[Number(port["port"])];
      return nodePort === undefined ? port : { ...port, nodePort };
    });
    return { ...step, do: { ...step.do, apply: { ...apply, spec: { ...apply.spec, ports } } } };
  });
  return { ...scenario, steps };
}

/** The health-check port is part of a probe's name, where the recordings have it as a number. */
function withHealthPorts(text: string): string {
  const probes = [...text.matchAll(/"name": "<([^>]+)>-TCP-(\d+)",\s*"properties": \{[^}]*"port": "<health:\1>"/g)];
  return probes.reduce(
    (result, [, service, port]) =>
      result.replaceAll(`<${service}>-TCP-${port}`, `<${service}>-TCP-<health:${service}>`),
    text,
  );
}

/** What must be known of a Service, dead or alive, to recognise its traces. */
export interface KnownService {
  readonly name: string;
  readonly base: string;
  readonly nodePorts: readonly { readonly protocol: string; readonly port: number; readonly nodePort: number }[];
  readonly healthPort: number | undefined;
}

/** Load balancers, public IPs and security groups as Azure has them. */
export type RealState = readonly (JsonObject & { readonly id: string; readonly name: string })[];

const LEFT_OUT = new Set(["id", "etag", "type", "resourceGuid", "provisioningState"]);

/** The real state in the form of the recordings. `pinned`: addresses that the scenario names, which stand for themselves. */
export function comparable(
  state: RealState,
  services: readonly KnownService[],
  pinned: (address: string) => boolean = () => false,
): RecordedState {
  const named = new Map(state.map((body) => [keyOf(body), simplify(body)]));
  const text = rename(JSON.stringify(Object.fromEntries(named)), services);
  const renamed = JSON.parse(text) as Record<string, JsonObject>;
  return substitute(renamed, placeholders(renamed, services, pinned)) as RecordedState;
}

/** With its resource group where that is not the cluster's. */
function keyOf(body: { readonly id: string; readonly name: string }): string {
  const parts = body.id.split("/");
  const group = parts[4] ?? "";
  return `${group.toLowerCase() === "rg" ? "" : `${group}/`}${parts.at(-2)}/${body.name}`;
}

/** A name, or the end of one, that Azure makes up; subscriptions in the recordings are of one digit. */
const MADE_UP = /(?<=[".])(?!(\d)\1{7}-)[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}(?=[".])/g;

function rename(text: string, services: readonly KnownService[]): string {
  const stable = text.replaceAll(MADE_UP, "<guid>");
  return services.reduce((result, { name, base, healthPort }) => {
    const renamed = result.replaceAll(base, `<${name}>`);
    return healthPort === undefined
      ? renamed
      : renamed.replaceAll(`<${name}>-TCP-${healthPort}`, `<${name}>-TCP-<health:${name}>`);
  }, stable);
}

/** Ids become references, what Azure adds by itself goes, and so do empty lists. */
function simplify(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(simplify).sort(byText);
  if (value === null || typeof value !== "object") return value;
  const object = value as JsonObject;
  if (Object.keys(object).length === 1 && typeof object["id"] === "string") return { ref: refOf(object["id"]) };
  const kept = Object.entries(object).filter(
    ([key, item]) => !LEFT_OUT.has(key) && !(Array.isArray(item) && item.length === 0),
  );
  return Object.fromEntries(kept.map(([key, item]) => [key, simplify(item)]));
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

function refOf(id: string): string {
  return id.split("/").slice(-2).join("/");
}

function byText(one: Json, other: Json): number {
  const [left, right] = [JSON.stringify(one), JSON.stringify(other)];
  return left < right ? -1 : Number(left > right);
}

/** Real values and what the recordings call them. */
function placeholders(
  state: Readonly<Record<string, JsonObject>>,
  services: readonly KnownService[],
  pinned: (address: string) => boolean,
): Map<string, string> {
  const names = new Map<string, string>();
  for (const { name, nodePorts, healthPort } of services) {
    for (const { protocol, port, nodePort } of nodePorts)
      names.set(String(nodePort), `<node:${name}:${protocol}:${port}>`);
    if (healthPort !== undefined) names.set(String(healthPort), `<health:${name}>`);
  }
  for (const [key, body] of Object.entries(state)) {
    const properties = body["properties"] as JsonObject;
    if (key.startsWith("publicIPAddresses/"))
      names.set(textOf(properties["ipAddress"]), `<ip:${textOf(body["name"])}>`);
    for (const frontend of (properties["frontendIPConfigurations"] ?? []) as readonly JsonObject[]) {
      const address = (frontend["properties"] as JsonObject)["privateIPAddress"];
      if (address !== undefined && !pinned(textOf(address)))
        names.set(textOf(address), `<fip:${textOf(frontend["name"])}>`);
    }
  }
  return names;
}

function substitute(value: Json, names: ReadonlyMap<string, string>): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => substitute(item, names));
  if (value === null || typeof value === "boolean") return value;
  if (typeof value !== "object") return names.get(textOf(value)) ?? value;
  return Object.fromEntries(Object.entries(value as JsonObject).map(([key, item]) => [key, substitute(item, names)]));
}

/** Where the actual state differs from the recorded one, in the fields that are recorded. */
export function differences(recorded: RecordedState, actual: RecordedState): string[] {
  const extra = Object.keys(actual).filter((key) => !(key in recorded));
  return [...extra.map((key) => `${key}: not recorded`), ...differ(recorded, actual, "")];
}

function differ(recorded: Json, actual: Json | undefined, path: string): string[] {
  if (Array.isArray(recorded)) return differInList(recorded as readonly Json[], actual, path);
  if (recorded === null || typeof recorded !== "object") {
    return recorded === actual
      ? []
      : [`${path}: recorded ${JSON.stringify(recorded)}, found ${JSON.stringify(actual)}`];
  }
  if (actual === null || typeof actual !== "object") return [`${path}: recorded, but not found`];
  return Object.entries(recorded as JsonObject).flatMap(([key, value]) =>
    differ(value, (actual as JsonObject)[key], path === "" ? key : `${path}.${key}`),
  );
}

function differInList(recorded: readonly Json[], actual: Json | undefined, path: string): string[] {
  if (!Array.isArray(actual)) return [`${path}: recorded, but not found`];
  const [wanted, found] = [recorded.toSorted(byName), (actual as readonly Json[]).toSorted(byName)];
  if (wanted.length !== found.length) {
    return [`${path}: recorded ${labels(wanted)}, found ${labels(found)}`];
  }
  return wanted.flatMap((item, at) => differ(item, found[at], `${path}[${labelOf(item)}]`));
}

function labelOf(item: Json): string {
  const name = item !== null && typeof item === "object" ? (item as JsonObject)["name"] : undefined;
  return typeof name === "string" ? name : JSON.stringify(item);
}

function labels(items: readonly Json[]): string {
  return `[${items.map(labelOf).join(", ")}]`;
}

/** Names that Azure makes up are all alike. */
function byName(one: Json, other: Json): number {
  return labelOf(one) < labelOf(other) ? -1 : Number(labelOf(one) > labelOf(other)) || byText(one, other);
}

/** A recorded state as Azure would answer it, for Services that are known by now. `address`: what stands for a placeholder. */
export function realised(
  state: RecordedState,
  services: readonly KnownService[],
  idOf: (kind: string, name: string) => string,
  address: (placeholder: string) => string = addressBook(),
): RealState {
  const values = new Map<string, string | number>([["<released>", "203.0.113.250"]]);
  for (const { name, nodePorts, healthPort } of services) {
    for (const { protocol, port, nodePort } of nodePorts) values.set(`<node:${name}:${protocol}:${port}>`, nodePort);
    if (healthPort !== undefined) values.set(`<health:${name}>`, healthPort);
  }
  const text = services.reduce((result, { name, base, healthPort }) => {
    const withHealth = result.replaceAll(`-TCP-<health:${name}>`, `-TCP-${healthPort ?? 0}`);
    return withHealth.replaceAll(`<${name}>`, base);
  }, JSON.stringify(state));
  const bodies = JSON.parse(text) as Record<string, JsonObject>;
  const parents = frontendParents(bodies, idOf);
  return Object.entries(bodies).map(([key, body]) => {
    const [kind = "", name = ""] = key.split("/");
    const id = idOf(kind, name);
    const real = fill(body, { id, values, address, parents, idOf }) as JsonObject & { name: string };
    return { ...real, id };
  });
}

/** Frontends by name: a public IP names its frontend without saying of which load balancer. */
function frontendParents(
  bodies: Readonly<Record<string, JsonObject>>,
  idOf: (kind: string, name: string) => string,
): Map<string, string> {
  const parents = new Map<string, string>();
  for (const [key, body] of Object.entries(bodies)) {
    const frontends = (body["properties"] as JsonObject)["frontendIPConfigurations"] ?? [];
    const [kind = "", name = ""] = key.split("/");
    for (const frontend of frontends as readonly JsonObject[]) parents.set(textOf(frontend["name"]), idOf(kind, name));
  }
  return parents;
}

/** The same placeholder gets the same address, of the family that its name tells. */
function addressBook(): (placeholder: string) => string {
  const book = new Map<string, string>();
  return (placeholder) => {
    const known = book.get(placeholder);
    if (known !== undefined) return known;
    const place = book.size + 10;
    const isPrivate = placeholder.startsWith("<fip:");
    const isIPv6 = placeholder.endsWith("-IPv6>");
    const made = isPrivate ? `10.240.1.${place}` : isIPv6 ? `2603:1030::${place.toString(16)}` : `20.1.1.${place}`;
    book.set(placeholder, made);
    return made;
  };
}

interface Filling {
  readonly id: string;
  readonly values: ReadonlyMap<string, string | number>;
  readonly address: (placeholder: string) => string;
  readonly parents: ReadonlyMap<string, string>;
  readonly idOf: (kind: string, name: string) => string;
}

const OWN_KINDS = new Set(["virtualNetworks", "publicIPAddresses", "loadBalancers", "networkSecurityGroups"]);

function fill(value: Json, filling: Filling): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => fill(item, filling));
  if (typeof value === "string") return fillText(value, filling);
  if (value === null || typeof value !== "object") return value;
  const object = value as JsonObject;
  if (typeof object["ref"] === "string") return { id: realId(object["ref"], filling) };
  return Object.fromEntries(
    Object.entries(object).map(([key, item]) => {
      const filled = fill(item, filling);
      return [key, key === "destinationPortRanges" ? (filled as readonly Json[]).map(textOf) : filled];
    }),
  );
}

function fillText(text: string, { values, address }: Filling): Json {
  return values.get(text) ?? (/^<(ip|fip):.+>$/.test(text) ? address(text) : text);
}

function realId(ref: string, { id, parents, idOf }: Filling): string {
  const [kind = "", name = ""] = ref.split("/");
  if (kind === "subnets") return `${idOf("virtualNetworks", "vnet")}/subnets/${name}`;
  if (OWN_KINDS.has(kind)) return idOf(kind, name);
  const parent = kind === "frontendIPConfigurations" ? (parents.get(name) ?? id) : id;
  return `${parent}/${kind}/${name}`;
}
