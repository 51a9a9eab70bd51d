/**
 * The annotation on a Service that says how far its spec is applied. It tells a change of the Service, still to be
 * applied, from drift: an edit of Azure by another client.
 *
 *   annotation              | means
 *   ------------------------|-------------------------------------------------------------------------------
 *   none                    | new, or taken over and never changed since
 *   `{fingerprint}`         | this spec, under this config, was fully applied
 *   `changing`              | an earlier spec was, another is on its way: no difference counts as drift
 *   ` groups={a},{b}` added | resource groups, besides the cluster's, where public IPs of the Service may be
 *   ` addresses={a}` added  | addresses, besides its frontends', that it may have opened
 */
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { Service } from "../model/kubernetes.ts";
import { isResourceGroupName } from "../model/ids.ts";
import { md5 } from "../util/md5.ts";
import { memo, memoAll } from "../util/memo.ts";
import { specFingerprint } from "./spec-fingerprint.ts";

export const APPLIED_ANNOTATION = "azlb.io/applied";

const CHANGING = "changing";

export interface AppliedState {
  /** `undefined` while changing. */
  readonly fingerprint: string | undefined;
  readonly groups: readonly string[];
  readonly addresses: readonly string[];
}

export function readAppliedState(service: Service): AppliedState | undefined {
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

export function renderAppliedState({ fingerprint, groups, addresses }: AppliedState): string {
  const note = (key: string, items: readonly string[]): string[] =>
    items.length === 0 ? [] : [`${key}=${items.toSorted().join(",")}`];
  return [fingerprint ?? CHANGING, ...note("groups", groups), ...note("addresses", addresses)].join(" ");
}

/** Equal for equal specs under equal configs. */
export function fingerprintOf(service: Service, config: ClusterConfig): string {
  return fingerprint(config, service);
}

const fingerprint = memoAll((config: ClusterConfig, service: Service) =>
  md5(specFingerprint(service) + configFingerprint(config)),
);

const configFingerprint = memo((config: ClusterConfig) => {
  const fields = Object.entries(config).sort(([one], [other]) => (one < other ? -1 : 1));
  return md5(JSON.stringify(fields));
});

/** What differs in Azure from such a Service is drift. */
export function isApplied(service: Service, config: ClusterConfig): boolean {
  return readAppliedState(service)?.fingerprint === fingerprintOf(service, config);
}

/** The Service was applied once and asks for something else since. */
export function isChanged(service: Service, config: ClusterConfig): boolean {
  const applied = readAppliedState(service);
  return applied !== undefined && applied.fingerprint !== fingerprintOf(service, config);
}
