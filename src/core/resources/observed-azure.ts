/**
 * What one decision may know of Azure's resources, and how resources are found and replaced in the lists of it. A part
 * that could not be read is never shown as empty.
 */
import type { Compute } from "../backends/compute.ts";
import type { LoadBalancer, SecurityGroup, Subnet } from "../model/arm.ts";
import { parseId } from "../model/ids.ts";
import { memo } from "../util/memo.ts";
import type { Bodies, ListedKind } from "./azure-step.ts";
import type { ResourceKind } from "./resource-kind.ts";

export interface ObservedAzure {
  /** All load balancers of the load balancer's resource group. */
  readonly loadBalancers: readonly LoadBalancer[];
  /** What decisions have asked for, of every kind that the table observes by resource group. */
  readonly listed: Listed;
  /** Those of the groups in `listed` that do not exist, in lower case. Absent: none. */
  readonly missingGroups?: ReadonlySet<string>;
  /** By name; `undefined` is "read, and it isn't there", a name that is missing has not been read yet. */
  readonly subnets: ReadonlyMap<string, Subnet | undefined>;
  /** The security group of the config, which is always read; `undefined`: it isn't there. */
  readonly securityGroup: SecurityGroup | undefined;
  /** The machines behind the nodes; read only where `needsCompute` says so. */
  readonly compute?: Compute;
}

/** By kind; a kind that is missing has not been read in any group yet. */
export type Listed = { readonly [K in ListedKind]?: ListedGroups<K> };

/** By lower-cased resource group; a group that is missing has not been read yet. */
export type ListedGroups<K extends ListedKind> = ReadonlyMap<string, readonly Bodies[K][]>;

export function listedOf<K extends ListedKind>({ listed }: Pick<ObservedAzure, "listed">, kind: K): ListedGroups<K> {
  return listed[kind] ?? new Map();
}

/** With this list as what the resource group holds of the kind. */
export function withListed<K extends ListedKind>(
  listed: Listed,
  kind: K,
  resourceGroup: string,
  bodies: readonly Bodies[K][],
): Listed {
  const groups = new Map([...listedOf({ listed }, kind), [resourceGroup.toLowerCase(), bodies]]);
  return { ...listed, [kind]: groups };
}

/**
 * The part of a kind's entry that says how decisions see it. `predictAll`: bodies as Azure will show them once written, in the same
 * order, where `present` are those of all resource groups.
 */
export function observedByGroup<K extends ListedKind>(
  kind: K,
  predictAll: (bodies: readonly Bodies[K][], present: Iterable<Bodies[K]>) => readonly Bodies[K][] = (bodies) => bodies,
): Pick<ResourceKind<never, Bodies[K], "byGroup">, "observed" | "find" | "replace" | "replaceAll"> {
  const inGroup = (azure: ObservedAzure, group: string) => listedOf(azure, kind).get(group) ?? [];
  const replaceAll = (azure: ObservedAzure, bodies: ReadonlyMap<string, Bodies[K] | undefined>): ObservedAzure => {
    const present = [...listedOf(azure, kind).values()].flat();
    const written = [...bodies].flatMap(([id, body]) => (body === undefined ? [] : [{ id, body }]));
    const shown = predictAll(
      written.map(({ body }) => body),
      present,
    );
    const predicted = new Map(written.map(({ id }, at) => [id, shown[at]]));
    const groups = Map.groupBy(bodies.keys(), groupOf);
    const listed = [...groups].reduce((lists, [group, ids]) => {
      const after = new Map(ids.map((id) => [id.toLowerCase(), predicted.get(id)]));
      return withListed(lists, kind, group, replacedIn(inGroup(azure, group), after));
    }, azure.listed);
    return { ...azure, listed };
  };
  return {
    observed: "byGroup",
    find: (azure, id) => byId(inGroup(azure, groupOf(id))).get(id.toLowerCase()) as Bodies[K] | undefined,
    replace: (azure, id, body) => replaceAll(azure, new Map([[id, body]])),
    replaceAll,
  };
}

/** By their ids in lower case: made once for a list, however many are looked up in it. */
const byId = memo(
  (list: readonly { readonly id: string }[]): ReadonlyMap<string, object> =>
    new Map(list.map((one) => [one.id.toLowerCase(), one])),
);

/** By ids in lower case: in their places, or at the end; without those that are `undefined`. */
function replacedIn<Body extends { readonly id: string }>(
  list: readonly Body[],
  bodies: ReadonlyMap<string, Body | undefined>,
): Body[] {
  const present = byId(list);
  const kept = list.flatMap((one) => {
    const id = one.id.toLowerCase();
    return bodies.has(id) ? (bodies.get(id) ?? []) : one;
  });
  const added = [...bodies].flatMap(([id, body]) => (present.has(id) ? [] : (body ?? [])));
  return [...kept, ...added];
}

/** The list with `body` in the place of what has this id, or at its end; without it where `body` is `undefined`. */
export function replaceById<Body extends { readonly id: string }>(
  list: readonly Body[],
  id: string,
  body: Body | undefined,
): Body[] {
  return replacedIn(list, new Map([[id.toLowerCase(), body]]));
}

function groupOf(id: string): string {
  return parseId(id)?.resourceGroup.toLowerCase() ?? "";
}
