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
 *
 * A user who may write the Service may write this, too: it tells where to look, and what is found there is verified.
 */
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { Service } from "../model/kubernetes.ts";
import { isResourceGroupName } from "../model/ids.ts";
import { md5 } from "../util/md5.ts";
import { memo, memoAll } from "../util/memo.ts";
import { specFingerprint } from "./spec-fingerprint.ts";

export const APPLIED_ANNOTATION = "azlb.io/applied";

const CHANGING = "changing";
const GROUPS = "groups=";

export interface AppliedState {
  /** `undefined` while changing. */
  readonly fingerprint: string | undefined;
  readonly groups: readonly string[];
}

export function readAppliedState(service: Service): AppliedState | undefined {
  const text = service.metadata.annotations?.[APPLIED_ANNOTATION];
  if (text === undefined) return undefined;
  const [state, ...notes] = text.split(" ");
  const groups =
    notes
      .find((note) => note.startsWith(GROUPS))
      ?.slice(GROUPS.length)
      .split(",") ?? [];
  return { fingerprint: state === CHANGING ? undefined : state, groups: groups.filter(isResourceGroupName) };
}

export function renderAppliedState({ fingerprint, groups }: AppliedState): string {
  const notes = groups.length === 0 ? [] : [`groups=${groups.toSorted().join(",")}`];
  return [fingerprint ?? CHANGING, ...notes].join(" ");
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
