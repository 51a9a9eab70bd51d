/** Many Services at a time: looked at by one list, since asking for each by itself would be most of a test's work. */
import assert from "node:assert/strict";

import { SERVICES, type KubeObject } from "../../src/kube/client/resources.ts";
import { eventually } from "./eventually.ts";
import type { ServiceRig } from "./service-rig.ts";

export const MANY_WITHIN_MS = 120_000;

interface Balanced extends KubeObject {
  readonly spec: { readonly type?: string };
  readonly status: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
}

/** The LoadBalancer Services that there are, by name, with their addresses. */
export async function addresses({ kube }: ServiceRig): Promise<Map<string, string[]>> {
  const { items } = await kube.list<Balanced>(SERVICES, { namespace: "default" });
  const balanced = items.filter(({ spec }) => spec.type === "LoadBalancer");
  return new Map(
    balanced.map(({ metadata, status }) => [
      metadata.name,
      (status.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []),
    ]),
  );
}

/** Asks for all of them to go at once. */
export async function startDeleting({ kube }: ServiceRig, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => kube.delete(SERVICES, { namespace: "default", name })));
}

/** Resolves when these are the Services that there are. */
export async function onlyLeft(rig: ServiceRig, names: readonly string[]): Promise<void> {
  const wanted = names.toSorted();
  await eventually(async () => {
    assert.deepEqual([...(await addresses(rig)).keys()].toSorted(), wanted);
  }, MANY_WITHIN_MS);
}
