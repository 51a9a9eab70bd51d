/**
 * What will be seen after these steps, if nobody else writes meanwhile: the merges that the writers will do, done on a
 * copy. Lets a plan show the rounds that follow the first, and tests tell whole histories without any Azure.
 */
import type { BackendPool, LoadBalancer } from "../model/arm.ts";
import type { Compute } from "../backends/compute.ts";
import { parseId, sameId } from "../model/ids.ts";
import type { Service } from "../model/kubernetes.ts";
import type { ServiceStep, Step } from "../steps.ts";
import { attachPublicIPs, predictedLoadBalancer, predictedPublicIP, withInterfaces } from "./predicted-azure.ts";
import { APPLIED_ANNOTATION } from "../service/applied-state.ts";
import { CLASS_ANNOTATION, FINALIZER } from "../service/ownership.ts";
import { isAzureStep } from "../service/rounds.ts";
import type { Observed } from "../observed.ts";
import {
  byResource,
  type Write,
  type WriteOf,
  writtenAttachment,
  writtenLoadBalancer,
  writtenPool,
  writtenPublicIP,
  writtenSecurityGroup,
} from "./merged-writes.ts";

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

function afterWrite(observed: Observed, write: Write): Observed {
  switch (write.kind) {
    case "loadBalancer": {
      const { after } = writtenLoadBalancer(observed, write);
      const body = after && predictedLoadBalancer(after, observed.subnets);
      return { ...observed, loadBalancers: replaced(observed.loadBalancers, write.id, body) };
    }
    case "membership": {
      const { before, after } = writtenPool(observed, write);
      const loadBalancers = observed.loadBalancers.map((seen) => withPool(seen, before, after));
      return { ...observed, loadBalancers };
    }
    case "publicIP": {
      const group = parseId(write.id)?.resourceGroup.toLowerCase() ?? "";
      const { after } = writtenPublicIP(observed, write);
      const list = replaced(observed.publicIPs.get(group) ?? [], write.id, after && predictedPublicIP(after));
      return { ...observed, publicIPs: new Map([...observed.publicIPs, [group, list]]) };
    }
    case "access":
      return { ...observed, securityGroup: writtenSecurityGroup(observed, write).after ?? null };
    case "attachment":
      return observed.compute === undefined ? observed : withAttachment(observed, observed.compute, write);
  }
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

function withPool(seen: LoadBalancer, before: BackendPool | undefined, after: BackendPool | undefined): LoadBalancer {
  const pools = seen.properties.backendAddressPools ?? [];
  if (before === undefined || after === undefined || !pools.includes(before)) return seen;
  const backendAddressPools = pools.map((pool) => (pool === before ? after : pool));
  return { ...seen, properties: { ...seen.properties, backendAddressPools } };
}

/** Azure lists in a pool who has joined it. */
function withAttachment(observed: Observed, before: Compute, write: WriteOf<"attachment">): Observed {
  const key = write.id.toLowerCase();
  const { after } = writtenAttachment(observed, write);
  const put = <Body>(bodies: ReadonlyMap<string, Body>): ReadonlyMap<string, Body> =>
    bodies.has(key) ? new Map([...bodies, [key, after as Body]]) : bodies;
  const compute: Compute = {
    ...before,
    networkInterfaces: put(before.networkInterfaces),
    scaleSets: put(before.scaleSets),
    instances: put(before.instances),
  };
  return { ...observed, compute, loadBalancers: withInterfaces(observed.loadBalancers, compute) };
}
