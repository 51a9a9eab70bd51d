/**
 * What one Service owns on the load balancer that serves it, and what it owns where it is not served: nothing, but for
 * frontends that others need, which the merge knows. Leaves to others which load balancer that is
 * (`get-service-load-balancer.ts`) and which public IPs it stands on (`reconcile-public-ip.ts`).
 */
import type { Family, LoadBalancer } from "../../model/arm.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import type { Service } from "../../model/kubernetes.ts";
import { baseOf, isServiceBase, poolName } from "../../model/names.ts";
import type { Owner } from "../../outcome.ts";
import { desiredFrontend, type FrontendInput } from "./desired-frontend.ts";
import { desiredRules } from "./desired-rules.ts";
import type { Disposable, LoadBalancerFragment, LoadBalancerShell } from "./fragment.ts";
import { frontendOf, loadBalancerIndex, partsOf } from "./load-balancer-index.ts";

export interface FragmentInput extends FrontendInput {
  /** Of the Service's families those to be served now. */
  readonly families: readonly Family[];
  readonly loadBalancer: { readonly id: string; readonly name: string };
  readonly disposable: Disposable | undefined;
  /** Does a Service with this base use this load balancer? */
  readonly isServedHere: (base: string) => boolean;
  readonly neighbours: readonly Service[];
}

export function desiredLoadBalancer(input: FragmentInput): LoadBalancerFragment {
  const { intent, config, seen, loadBalancer, families } = input;
  const perFamily = families.map((family) => {
    const frontend = desiredFrontend(input, family);
    const parts = desiredRules({ intent, config, loadBalancerId: loadBalancer.id, family, frontend: frontend.name });
    return { frontend, ...parts };
  });
  const probes = new Map(perFamily.flatMap((one) => one.probes.map((probe) => [probe.name, probe])));
  const rules = perFamily.flatMap((one) => one.rules);
  const used = perFamily.map(({ frontend }) => frontend.name.toLowerCase());
  return {
    owner: intent.owner,
    shell: shellOf(config, loadBalancer),
    frontends: perFamily.flatMap(({ frontend }) => frontend.own ?? []),
    probes: [...probes.values()],
    rules,
    pools: families.map((family) => poolName(config.clusterName, family)),
    releases: releasesOf(seen, intent.owner, input.isServedHere).filter((name) => !used.includes(name)),
    disposable: input.disposable,
    neighbours: input.neighbours,
  };
}

export interface AbsenceInput {
  readonly owner: Owner;
  readonly seen: LoadBalancer;
  readonly disposable: Disposable | undefined;
  readonly isServedHere: (base: string) => boolean;
  readonly neighbours: readonly Service[];
}

/** "Should not exist". */
export function absentLoadBalancer({ seen, isServedHere, ...rest }: AbsenceInput): LoadBalancerFragment {
  const releases = releasesOf(seen, rest.owner, isServedHere);
  return { ...rest, shell: undefined, frontends: [], probes: [], rules: [], pools: [], releases };
}

function shellOf(config: ClusterConfig, { id, name }: { id: string; name: string }): LoadBalancerShell {
  const { location, sku, extendedLocation, tags, systemTags } = config;
  return {
    id,
    name,
    location,
    sku: { name: sku === "standard" ? "Standard" : "Basic" },
    ...(extendedLocation && { extendedLocation }),
    tags,
    systemTags,
  };
}

/**
 * Frontends that the Service's rules stand on although they are named after another Service, and that other is not
 * served here any more. A name that no Service could have is a person's frontend, which is never ours to remove.
 */
function releasesOf(
  seen: LoadBalancer | undefined,
  owner: Owner,
  isServedHere: (base: string) => boolean,
): readonly string[] {
  if (seen === undefined) return [];
  const rules = partsOf(loadBalancerIndex(seen), owner.base).rules;
  const names = new Set(rules.map(({ properties }) => frontendOf(properties.frontendIPConfiguration) ?? ""));
  const own = owner.base.toLowerCase();
  return [...names].filter((name) => {
    const base = baseOf(name);
    return base !== own && isServiceBase(base) && !isServedHere(base);
  });
}
