/** Who holds the Leases of kube-system now: which controllers run. */
import type { KubeClient } from "../kube/client/kube-client.ts";
import { LEASES } from "../kube/client/resources.ts";
import type { Lease } from "../kube/election/lease.ts";

export const KUBE_SYSTEM = "kube-system";
export const OWN_LEASE = "azlb-controller";

/** Holders by the name of the Lease; one that is free or has run out is left out. */
export async function heldLeases(client: KubeClient, nowMs: number): Promise<ReadonlyMap<string, string>> {
  const { items } = await client.list<Lease>(LEASES, { namespace: KUBE_SYSTEM });
  return new Map(
    items
      .filter((lease) => isHeld(lease, nowMs))
      .map(({ metadata, spec }) => [metadata.name, spec?.holderIdentity ?? ""]),
  );
}

function isHeld({ spec }: Lease, nowMs: number): boolean {
  const { holderIdentity, renewTime, leaseDurationSeconds } = spec ?? {};
  const endsMs = Date.parse(renewTime ?? "") + (leaseDurationSeconds ?? 0) * 1000;
  return Boolean(holderIdentity) && endsMs > nowMs;
}
