/**
 * Steps as the writes that they lead to: those on one resource leave together, merged into what is seen of it. This is
 * what the writers of `src/azure` do, done without any Azure: for predictions and plans.
 */
import type { BackendPool, LoadBalancer, PublicIP, SecurityGroup } from "../model/arm.ts";
import { type Attachable, mergeNicPools } from "../resources/nic-pools/merge-nic-pools.ts";
import { mergeBackendPool } from "../resources/backend-pool/merge-backend-pool.ts";
import { parentId, parseId, sameId } from "../model/ids.ts";
import { mergeLoadBalancer } from "../resources/load-balancer/merge-load-balancer.ts";
import type { AzureStep, Merged } from "../steps.ts";
import { mergePublicIP } from "../resources/public-ip/merge-public-ip.ts";
import { mergeSecurityGroup } from "../resources/security-group/merge-security-group.ts";
import type { Observed } from "../observed.ts";

type Kind = AzureStep["kind"];
type FragmentOf<K extends Kind> = Extract<AzureStep, { kind: K }>["fragment"];

export interface WriteOf<K extends Kind> {
  readonly kind: K;
  readonly id: string;
  readonly fragments: FragmentOf<K>[];
}
export type Write = { [K in Kind]: WriteOf<K> }[Kind];

export function byResource(steps: readonly AzureStep[]): Write[] {
  const writes = new Map<string, Write>();
  for (const { kind, id, fragment } of steps) {
    const write: Write = writes.get(id.toLowerCase()) ?? { kind, id, fragments: [] };
    (write.fragments as unknown[]).push(fragment);
    writes.set(id.toLowerCase(), write);
  }
  return [...writes.values()];
}

/** `undefined`: not there. */
export interface Written<Body> {
  readonly before: Body | undefined;
  /** As we send it: Azure adds to it. */
  readonly after: Body | undefined;
}

export function written(observed: Observed, write: Write): Written<unknown> {
  switch (write.kind) {
    case "loadBalancer":
      return writtenLoadBalancer(observed, write);
    case "membership":
      return writtenPool(observed, write);
    case "publicIP":
      return writtenPublicIP(observed, write);
    case "access":
      return writtenSecurityGroup(observed, write);
    case "attachment":
      return writtenAttachment(observed, write);
  }
}

function after<Body>(before: Body | undefined, { outcome }: Merged<Body>): Written<Body> {
  const body = outcome.kind === "put" ? outcome.body : outcome.kind === "delete" ? undefined : before;
  return { before, after: body };
}

export function writtenLoadBalancer(observed: Observed, write: WriteOf<"loadBalancer">): Written<LoadBalancer> {
  const seen = observed.loadBalancers.find(({ id }) => sameId(id, write.id));
  return after(seen, mergeLoadBalancer(seen, write.fragments));
}

/** Of several wishes for one pool the last is the newest. */
export function writtenPool(observed: Observed, { id, fragments }: WriteOf<"membership">): Written<BackendPool> {
  const parent = observed.loadBalancers.find((one) => sameId(one.id, parentId(id)));
  const name = parseId(id)?.name.toLowerCase();
  const seen = parent?.properties.backendAddressPools?.find((pool) => pool.name.toLowerCase() === name);
  const newest = fragments.at(-1);
  return seen === undefined || newest === undefined
    ? { before: seen, after: seen }
    : after(seen, mergeBackendPool(seen, newest));
}

export function writtenPublicIP(observed: Observed, { id, fragments }: WriteOf<"publicIP">): Written<PublicIP> {
  const group = parseId(id)?.resourceGroup.toLowerCase() ?? "";
  const seen = observed.publicIPs.get(group)?.find((one) => sameId(one.id, id));
  return after(seen, mergePublicIP(seen, fragments));
}

export function writtenSecurityGroup(observed: Observed, { fragments }: WriteOf<"access">): Written<SecurityGroup> {
  const { securityGroup } = observed;
  return after(securityGroup ?? undefined, mergeSecurityGroup(securityGroup, fragments));
}

export function writtenAttachment(
  { compute }: Observed,
  { id, fragments }: WriteOf<"attachment">,
): Written<Attachable> {
  const key = id.toLowerCase();
  const seen = compute?.networkInterfaces.get(key) ?? compute?.scaleSets.get(key) ?? compute?.instances.get(key);
  return after(seen, mergeNicPools(seen, fragments));
}
