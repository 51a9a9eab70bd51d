/**
 * What will be seen after these steps, if nobody else writes meanwhile: the merges that the writers will do, done on a
 * copy. Lets a plan show the rounds that follow the first, and tests tell whole histories without any Azure.
 */
import type { LoadBalancer, PublicIP } from "./arm.ts";
import type { Compute } from "./backends/compute.ts";
import { type Attachable, mergeAttachment } from "./backends/merge-attachment.ts";
import { mergeMembership } from "./backends/merge-membership.ts";
import { parentId, parseId, sameId } from "./ids.ts";
import type { Service } from "./kubernetes.ts";
import { mergeLoadBalancer } from "./load-balancer/merge-load-balancer.ts";
import type { AzureStep, Merged, ServiceStep, Step } from "./plan.ts";
import { attachPublicIPs, predictedLoadBalancer, predictedPublicIP, withInterfaces } from "./predicted-azure.ts";
import { mergePublicIP } from "./public-ip/merge-public-ip.ts";
import { mergeSecurityGroup } from "./security-group/merge-security-group.ts";
import { APPLIED_ANNOTATION } from "./service/applied.ts";
import { CLASS_ANNOTATION, FINALIZER } from "./service/ownership.ts";
import { isAzureStep } from "./service/rounds.ts";
import type { Observed } from "./world.ts";

export function predict(observed: Observed, steps: readonly Step[]): Observed {
  const service = steps.reduce(
    (seen, step) => (isAzureStep(step) ? seen : afterServiceStep(observed, seen, step)),
    observed.service,
  );
  const azure = byResource(steps.filter(isAzureStep)).reduce(afterWrite, { ...observed, service });
  const publicIPs = new Map(
    [...azure.publicIPs].map(([group, list]) => [group, attachPublicIPs(list, azure.loadBalancers)]),
  );
  return { ...azure, publicIPs };
}

function afterServiceStep({ classFilter }: Observed, service: Service, step: ServiceStep): Service {
  const { metadata } = service;
  switch (step.kind) {
    case "addFinalizer": {
      const annotations = {
        ...metadata.annotations,
        ...(classFilter !== undefined && { [CLASS_ANNOTATION]: classFilter }),
      };
      return {
        ...service,
        metadata: { ...metadata, annotations, finalizers: [...(metadata.finalizers ?? []), FINALIZER] },
      };
    }
    case "removeFinalizer": {
      const finalizers = (metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
      return { ...service, metadata: { ...metadata, finalizers } };
    }
    case "publish": {
      const { [APPLIED_ANNOTATION]: _, ...others } = metadata.annotations ?? {};
      const annotations = { ...others, ...(step.applied !== undefined && { [APPLIED_ANNOTATION]: step.applied }) };
      return {
        ...service,
        metadata: { ...metadata, annotations },
        status: { loadBalancer: { ingress: step.ingress } },
      };
    }
  }
}

/** The steps on one resource, which leave in one write. */
type Write = {
  [Kind in AzureStep["kind"]]: { readonly kind: Kind; readonly id: string; readonly fragments: FragmentOf<Kind>[] };
}[AzureStep["kind"]];

type FragmentOf<Kind extends AzureStep["kind"]> = Extract<AzureStep, { kind: Kind }>["fragment"];

export function byResource(steps: readonly AzureStep[]): Write[] {
  const writes = new Map<string, Write>();
  for (const { kind, id, fragment } of steps) {
    const write: Write = writes.get(id.toLowerCase()) ?? { kind, id, fragments: [] };
    (write.fragments as unknown[]).push(fragment);
    writes.set(id.toLowerCase(), write);
  }
  return [...writes.values()];
}

function afterWrite(observed: Observed, write: Write): Observed {
  switch (write.kind) {
    case "loadBalancer": {
      const seen = observed.loadBalancers.find(({ id }) => sameId(id, write.id));
      const after = resultOf(seen, mergeLoadBalancer(seen, write.fragments));
      const body = after && predictedLoadBalancer(after, observed.subnets);
      return { ...observed, loadBalancers: replaced(observed.loadBalancers, write.id, body) };
    }
    case "membership":
      return { ...observed, loadBalancers: observed.loadBalancers.map((seen) => withPool(seen, write)) };
    case "publicIP":
      return { ...observed, publicIPs: withPublicIP(observed.publicIPs, write) };
    case "access": {
      const { outcome } = mergeSecurityGroup(observed.securityGroup, write.fragments);
      return outcome.kind === "put" ? { ...observed, securityGroup: outcome.body } : observed;
    }
    case "attachment":
      return observed.compute === undefined ? observed : withAttachment(observed, observed.compute, write);
  }
}

function resultOf<Body>(seen: Body | undefined, { outcome }: Merged<Body>): Body | undefined {
  return outcome.kind === "put" ? outcome.body : outcome.kind === "delete" ? undefined : seen;
}

function replaced<Body extends { readonly id: string }>(
  list: readonly Body[],
  id: string,
  body: Body | undefined,
): Body[] {
  const isThere = list.some((one) => sameId(one.id, id));
  const rest = list.flatMap((one) => (sameId(one.id, id) ? (body ?? []) : one));
  return isThere || body === undefined ? rest : [...rest, body];
}

function withPool(seen: LoadBalancer, { id, fragments }: Extract<Write, { kind: "membership" }>): LoadBalancer {
  const fragment = fragments.at(-1);
  if (!sameId(seen.id, parentId(id)) || fragment === undefined) return seen;
  const pools = (seen.properties.backendAddressPools ?? []).map((pool) =>
    pool.name.toLowerCase() === fragment.pool.toLowerCase()
      ? (resultOf(pool, mergeMembership(pool, fragment)) ?? pool)
      : pool,
  );
  return { ...seen, properties: { ...seen.properties, backendAddressPools: pools } };
}

function withPublicIP(
  publicIPs: Observed["publicIPs"],
  { id, fragments }: Extract<Write, { kind: "publicIP" }>,
): Observed["publicIPs"] {
  const group = parseId(id)?.resourceGroup.toLowerCase() ?? "";
  const list = publicIPs.get(group) ?? [];
  const seen = list.find((one) => sameId(one.id, id));
  const after: PublicIP | undefined = resultOf(seen, mergePublicIP(seen, fragments));
  return new Map([...publicIPs, [group, replaced(list, id, after && predictedPublicIP(after))]]);
}

/** Azure lists in a pool who has joined it. */
function withAttachment(
  observed: Observed,
  before: Compute,
  { id, fragments }: Extract<Write, { kind: "attachment" }>,
): Observed {
  const { outcome } = mergeAttachment(attachableOf(before, id), fragments);
  if (outcome.kind !== "put") return observed;
  const put = <Body>(bodies: ReadonlyMap<string, Body>): ReadonlyMap<string, Body> =>
    bodies.has(id.toLowerCase()) ? new Map([...bodies, [id.toLowerCase(), outcome.body as Body]]) : bodies;
  const compute: Compute = {
    ...before,
    networkInterfaces: put(before.networkInterfaces),
    scaleSets: put(before.scaleSets),
    instances: put(before.instances),
  };
  return { ...observed, compute, loadBalancers: withInterfaces(observed.loadBalancers, compute) };
}

function attachableOf({ networkInterfaces, scaleSets, instances }: Compute, id: string): Attachable | undefined {
  const key = id.toLowerCase();
  return networkInterfaces.get(key) ?? scaleSets.get(key) ?? instances.get(key);
}
