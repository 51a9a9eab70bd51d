/** A cluster that the controller has led before: a Lease as a leader leaves it, so that the next one need not wait. */
import type { KubeClient } from "../../src/kube/client/kube-client.ts";
import { LEASES } from "../../src/kube/client/resources.ts";
import { DEFAULT_LEASE } from "../../src/main/controller.ts";

export const RELEASED = { holderIdentity: "", leaseDurationSeconds: 1 } as const;

export async function leaveLease(kube: KubeClient, { namespace, name }: Place = DEFAULT_LEASE): Promise<void> {
  await kube.create(LEASES, { metadata: { namespace, name }, spec: RELEASED });
}

interface Place {
  readonly namespace: string;
  readonly name: string;
}
