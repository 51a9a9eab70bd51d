/** The served resources: the built-in ones, and one per served version of an established definition. */
import { configMap, secret } from "./kinds/config.ts";
import { customResources } from "./kinds/custom.ts";
import { definition } from "./kinds/definition.ts";
import { endpointSlice } from "./kinds/endpoint-slice.ts";
import { coreEvent, event } from "./kinds/event.ts";
import { lease } from "./kinds/lease.ts";
import { namespace } from "./kinds/namespace.ts";
import { node } from "./kinds/node.ts";
import { pod } from "./kinds/pod.ts";
import { service } from "./kinds/service/service.ts";
import { reviewKinds } from "./kinds/reviews.ts";
import { storedKinds } from "./kinds/stored.ts";
import type { Resource } from "./resource.ts";
import { objectAt, objectsIn, type State } from "./state.ts";

const BUILT_IN: readonly Resource[] = [
  configMap,
  coreEvent,
  namespace,
  node,
  pod,
  secret,
  service,
  lease,
  endpointSlice,
  event,
  definition,
  ...storedKinds,
  ...reviewKinds,
];

const builtInByPath = new Map(BUILT_IN.map((resource) => [pathOf(resource), resource]));

function pathOf(resource: { group: string; version: string; plural: string }): string {
  return `${resource.group}/${resource.version}/${resource.plural}`;
}

const DEFINITIONS = definition.collection;

export function findResource(state: State, group: string, version: string, plural: string): Resource | undefined {
  const builtIn = builtInByPath.get(pathOf({ group, version, plural }));
  if (builtIn !== undefined) return builtIn;
  const defined = objectAt(state, DEFINITIONS, `${plural}.${group}`);
  return defined && customResources(defined).find((resource) => resource.version === version);
}

export function servedResources(state: State): readonly Resource[] {
  return [...BUILT_IN, ...[...objectsIn(state, DEFINITIONS)].flatMap(customResources)];
}

/** A resource that stores its objects in this collection. */
export function resourceOfCollection(state: State, collection: string): Resource | undefined {
  const builtIn = BUILT_IN.find((resource) => resource.collection === collection);
  if (builtIn !== undefined) return builtIn;
  const defined = objectAt(state, DEFINITIONS, collection);
  return defined && customResources(defined)[0];
}
