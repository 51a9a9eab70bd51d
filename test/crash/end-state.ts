/**
 * Everything that a history leaves behind, in Azure and in Kubernetes, without what differs from run to run by chance:
 * two histories ended alike if these are equal. What a user asked for and got, addresses included, is all in it.
 */
import { baseName } from "../../src/core/names.ts";
import type { AzureResource, CrashBed, KubeObject } from "./crash-bed.ts";

export interface EndState {
  readonly azure: Readonly<Record<string, unknown>>;
  readonly services: Readonly<Record<string, unknown>>;
  readonly memberLists: Readonly<Record<string, unknown>>;
  readonly taints: Readonly<Record<string, unknown>>;
}

const SERVICES = "/api/v1/namespaces/default/services";
/** Digests that depend on the uid: that they are there counts. */
const DIGESTS = /("azlb\.io\/applied":)"[^"]*"/g;

export async function endState(bed: CrashBed): Promise<EndState> {
  const services = bed.objects(SERVICES);
  const state: EndState = {
    azure: byName(await bed.resources(), ({ id }) => id, lasting),
    services: byName(services, nameOf, wanted),
    memberLists: byName(bed.objects("/api/v1/namespaces/kube-system/configmaps"), nameOf, ({ data }) => data),
    taints: byName(bed.objects("/api/v1/nodes"), nameOf, ({ spec }) => (spec as { taints?: unknown }).taints ?? []),
  };
  return JSON.parse(withoutUids(JSON.stringify(state), services)) as EndState;
}

function byName<Item>(items: readonly Item[], name: (item: Item) => string, value: (item: Item) => unknown) {
  return Object.fromEntries(items.map((item) => [name(item), value(item)]));
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name;
}

function lasting({ state, body, assigned }: AzureResource): unknown {
  return { state, body, assigned };
}

function wanted({ metadata, spec, status }: KubeObject): unknown {
  const { annotations, labels, finalizers, deletionTimestamp } = metadata;
  const { clusterIP: _one, clusterIPs: _all, ...rest } = spec as Record<string, unknown>;
  return { annotations, labels, finalizers, isDeleting: deletionTimestamp !== undefined, spec: rest, status };
}

function withoutUids(text: string, services: readonly KubeObject[]): string {
  let plain = text.replaceAll(DIGESTS, '$1"…"');
  for (const { metadata } of services) {
    plain = plain.replaceAll(baseName(metadata.uid), `<${metadata.name}>`).replaceAll(metadata.uid, metadata.name);
  }
  return plain;
}
