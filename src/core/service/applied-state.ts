/**
 * The mark on a Service that says how far it is applied. Who asks: is a difference in Azure the Service's change, still
 * to be applied, or somebody's drift?
 *
 *   mark                    | means
 *   ------------------------|-------------------------------------------------------------------------------
 *   none                    | new, or taken over and never changed since
 *   `{fingerprint}`         | this wish, under this config, was fully applied
 *   `changing`              | an earlier wish was, another is on its way: nothing that is found counts as drift
 *   ` groups={a},{b}` added | resource groups, besides the cluster's, where public IPs of the Service may be
 *   ` addresses={a}` added  | addresses, besides its frontends', that it may have opened
 */
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { Service } from "../model/kubernetes.ts";
import { isResourceGroupName } from "../model/ids.ts";
import { md5 } from "../util/md5.ts";
import { specFingerprint } from "./spec-fingerprint.ts";

export const APPLIED_ANNOTATION = "azlb.io/applied";

const CHANGING = "changing";

export interface Mark {
  /** `undefined` while changing. */
  readonly fingerprint: string | undefined;
  readonly groups: readonly string[];
  readonly addresses: readonly string[];
}

export function markOf(service: Service): Mark | undefined {
  const text = service.metadata.annotations?.[APPLIED_ANNOTATION];
  if (text === undefined) return undefined;
  const [state, ...notes] = text.split(" ");
  const listOf = (key: string): string[] => {
    const note = notes.find((one) => one.startsWith(`${key}=`)) ?? "";
    return note
      .slice(key.length + 1)
      .split(",")
      .filter((item) => item !== "");
  };
  const fingerprint = state === CHANGING ? undefined : state;
  return { fingerprint, groups: listOf("groups").filter(isResourceGroupName), addresses: listOf("addresses") };
}

export function writeMark({ fingerprint, groups, addresses }: Mark): string {
  const note = (key: string, items: readonly string[]): string[] =>
    items.length === 0 ? [] : [`${key}=${items.toSorted().join(",")}`];
  return [fingerprint ?? CHANGING, ...note("groups", groups), ...note("addresses", addresses)].join(" ");
}

const fingerprints = new WeakMap<Service, { readonly config: ClusterConfig; readonly fingerprint: string }>();

/** Equal for equal wishes under equal configs. */
export function fingerprintOf(service: Service, config: ClusterConfig): string {
  const known = fingerprints.get(service);
  if (known?.config === config) return known.fingerprint;
  const fingerprint = md5(specFingerprint(service) + configFingerprint(config));
  fingerprints.set(service, { config, fingerprint });
  return fingerprint;
}

const configs = new WeakMap<ClusterConfig, string>();

function configFingerprint(config: ClusterConfig): string {
  const known = configs.get(config);
  if (known !== undefined) return known;
  const fields = Object.entries(config).sort(([one], [other]) => (one < other ? -1 : 1));
  const fingerprint = md5(JSON.stringify(fields));
  configs.set(config, fingerprint);
  return fingerprint;
}

/** What differs in Azure from such a Service is drift. */
export function isApplied(service: Service, config: ClusterConfig): boolean {
  return markOf(service)?.fingerprint === fingerprintOf(service, config);
}

/** The Service was applied once and asks for something else since. */
export function isChanged(service: Service, config: ClusterConfig): boolean {
  const mark = markOf(service);
  return mark !== undefined && mark.fingerprint !== fingerprintOf(service, config);
}
