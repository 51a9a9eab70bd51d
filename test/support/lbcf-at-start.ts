/**
 * What LBCF's own controller asks its drivers when it starts over objects that are already there: a model written from its documented
 * behaviour, not its code. Groups by label and Binds by label; every driver answers `Succ`.
 *
 *   LoadBalancer  | created unless Created; ensured unless AttributesSynced
 *   Bind          | a load balancer is created unless Created, ensured where its attributes differ from the last synced
 *   group, Bind   | a record is found by its name: what is not there is made and registered, what should not be there is
 *                 | deregistered, and one whose attributes, parameters or policy differ is written anew and ensured
 *   BackendRecord | ensured unless Registered; deregistered when it is being deleted
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

type TextMap = Readonly<Record<string, string>>;

interface Condition {
  readonly type: string;
  readonly status: string;
}

export interface Stored {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
    readonly labels?: TextMap;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

export interface LbcfObjects {
  readonly loadBalancers: readonly Stored[];
  readonly groups: readonly Stored[];
  readonly binds: readonly Stored[];
  readonly records: readonly Stored[];
  readonly pods: readonly Stored[];
}

interface Expected {
  readonly name: string;
  readonly lbAttributes: TextMap | undefined;
  readonly parameters: TextMap | undefined;
  readonly ensurePolicy: unknown;
}

interface BindLoadBalancer {
  readonly name: string;
  readonly attributes?: TextMap;
}

interface BindLoadBalancerStatus {
  readonly name: string;
  readonly conditions?: unknown;
  readonly lastSyncedAttributes?: TextMap;
}

export function lbcfCallsAtStart(objects: LbcfObjects): readonly string[] {
  const owned = [
    ...objects.groups.flatMap((group) => backends(objects, group, ofGroup(objects, group))),
    ...objects.binds.flatMap((bind) => backends(objects, bind, ofBind(objects, bind))),
  ];
  return [
    ...objects.loadBalancers.flatMap(loadBalancerCalls),
    ...objects.binds.flatMap(bindCalls),
    ...owned,
    ...objects.records.flatMap(recordCalls),
  ];
}

function loadBalancerCalls({ metadata: { name }, status }: Stored): readonly string[] {
  if (!isTrue(status?.["conditions"], "Created")) return [`createLoadBalancer ${name}`];
  return isTrue(status?.["conditions"], "AttributesSynced") ? [] : [`ensureLoadBalancer ${name}`];
}

function bindCalls({ spec, status }: Stored): readonly string[] {
  const stored = listOf(status?.["loadBalancerStatuses"]) as readonly BindLoadBalancerStatus[];
  return loadBalancersOf(spec).flatMap(({ name, attributes }) => {
    const known = stored.find((each) => each.name === name);
    if (!isTrue(known?.conditions, "Created")) return [`createLoadBalancer ${name}`];
    return sameMap(attributes, known?.lastSyncedAttributes) ? [] : [`ensureLoadBalancer ${name}`];
  });
}

function loadBalancersOf(spec: Stored["spec"]): readonly BindLoadBalancer[] {
  return listOf(spec["loadBalancers"]) as readonly BindLoadBalancer[];
}

function recordCalls({ metadata, status }: Stored): readonly string[] {
  if (metadata.deletionTimestamp !== undefined) return [`deregisterBackend ${metadata.name}`];
  if (!status?.["backendAddr"]) return [`generateBackendAddr ${metadata.name}`];
  return isTrue(status["conditions"], "Registered") ? [] : [`ensureBackend ${metadata.name}`];
}

function backends({ records }: LbcfObjects, owner: Stored, expected: readonly Expected[]): readonly string[] {
  const own = records.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid));
  const there = new Map(own.map((each) => [each.metadata.name, each.spec]));
  const wanted = new Set(expected.map(({ name }) => name));
  return [
    ...[...there.keys()].filter((name) => !wanted.has(name)).map((name) => `deregisterBackend ${name}`),
    ...expected.flatMap(({ name, ...parts }) => {
      const spec = there.get(name);
      if (spec === undefined) return [`generateBackendAddr ${name}`, `ensureBackend ${name}`];
      // a Go pointer or map that is absent differs from one that is empty
      const isSame = Object.entries(parts).every(([key, value]) => isDeepStrictEqual(spec[key] ?? undefined, value));
      return isSame ? [] : [`ensureBackend ${name}`];
    }),
  ];
}

function ofGroup({ loadBalancers, pods }: LbcfObjects, { metadata, spec }: Stored): readonly Expected[] {
  return (listOf(spec["loadBalancers"]) as readonly string[]).flatMap((lbName) =>
    portsOf(spec).flatMap(({ port, protocol }) =>
      selected(spec, pods).map(({ metadata: { uid } }) => ({
        name: md5([lbName, metadata.name, uid, port, protocol].join("_")),
        lbAttributes: mapOf(loadBalancers.find((lb) => lb.metadata.name === lbName)?.spec["attributes"]),
        parameters: mapOf(spec["parameters"]),
        ensurePolicy: spec["ensurePolicy"] ?? undefined,
      })),
    ),
  );
}

/** The attributes are those of the Bind's status. */
function ofBind({ pods }: LbcfObjects, { metadata, spec, status: bound }: Stored): readonly Expected[] {
  const synced = listOf(bound?.["loadBalancerStatuses"]) as readonly BindLoadBalancerStatus[];
  return loadBalancersOf(spec).flatMap(({ name: lbName }) =>
    portsOf(spec).flatMap(({ port, protocol }) =>
      selected(spec, pods).map(({ metadata: { name }, status }) => ({
        name: md5([metadata.name, lbName, name, status?.["podIP"], protocol, port].join("-")),
        lbAttributes: synced.find((each) => each.name === lbName)?.lastSyncedAttributes,
        parameters: mapOf(spec["parameters"]),
        ensurePolicy: spec["ensurePolicy"] ?? undefined,
      })),
    ),
  );
}

function portsOf(spec: Stored["spec"]): readonly { port: number; protocol: string }[] {
  return listOf((spec["pods"] as { ports?: unknown }).ports) as readonly { port: number; protocol: string }[];
}

function selected(spec: Stored["spec"], pods: readonly Stored[]): readonly Stored[] {
  const { selector } = (spec["pods"] as { byLabel: { selector: TextMap } }).byLabel;
  return pods.filter(
    ({ metadata: { labels = {} }, status }) =>
      isTrue(status?.["conditions"], "Ready") &&
      Object.entries(selector).every(([key, value]) => labels[key] === value),
  );
}

function isTrue(conditions: unknown, type: string): boolean {
  return (listOf(conditions) as readonly Condition[]).some((each) => each.type === type && each.status === "True");
}

function sameMap(one: TextMap = {}, other: TextMap = {}): boolean {
  return isDeepStrictEqual({ ...one }, { ...other });
}

function mapOf(value: unknown): TextMap | undefined {
  return (value ?? undefined) as TextMap | undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return (value ?? []) as readonly unknown[];
}

function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}
