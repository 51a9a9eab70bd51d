/** Which resources are served: the built-in ones, and one for each served version of an established definition. */
import { configMap, secret } from "./kinds/config.ts";
import { endpointSlice } from "./kinds/endpoint-slice.ts";
import { coreEvent, event } from "./kinds/event.ts";
import { lease } from "./kinds/lease.ts";
import { namespace } from "./kinds/namespace.ts";
import { node } from "./kinds/node.ts";
import { pod } from "./kinds/pod.ts";
import { service } from "./kinds/service/service.ts";
import type { Resource } from "./resource.ts";
import type { State } from "./state.ts";

export const BUILT_IN: readonly Resource[] = [
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
];

const builtInByPath = new Map(BUILT_IN.map((resource) => [pathOf(resource), resource]));

function pathOf(resource: { group: string; version: string; plural: string }): string {
  return `${resource.group}/${resource.version}/${resource.plural}`;
}

export function findResource(_state: State, group: string, version: string, plural: string): Resource | undefined {
  return builtInByPath.get(pathOf({ group, version, plural }));
}

export function servedResources(_state: State): readonly Resource[] {
  return BUILT_IN;
}

/** The resource through which the objects of a collection are handled inside. */
export function resourceOfCollection(state: State, collection: string): Resource | undefined {
  return servedResources(state).find((resource) => resource.collection === collection);
}
