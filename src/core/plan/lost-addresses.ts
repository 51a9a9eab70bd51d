/**
 * Which published addresses these steps take from a Service that asks for no change: its own, since a step carries what
 * one Service owns. Empty for a Service that changed itself, is being deleted or was never published. Whether so much may
 * be taken is decided over all Services: in the plan by `plan-cluster.ts`, at work by `controller/brake/brake.ts`.
 */
import { ownerOf } from "../intent/ownership.ts";
import type { Frontend, LoadBalancer } from "../model/arm.ts";
import { nameOfId, sameId } from "../model/ids.ts";
import type { Observed } from "../observed.ts";
import { frontendOf, loadBalancerIndex, partsOf } from "../resources/load-balancer/load-balancer-index.ts";
import { listedOf } from "../resources/observed-azure.ts";
import { publicIPIndex } from "../resources/public-ip/desired-public-ip.ts";
import { isChangedItself } from "../service/applied-state.ts";
import { addressesOn, frontendsOf, publishedAddresses } from "../service/service-parts.ts";
import type { AzureStep, Step } from "../steps.ts";
import { predict } from "./predict.ts";

/** Sorted. */
export function lostAddresses(observed: Observed, steps: readonly Step[]): readonly string[] {
  const published = publishedAddresses(observed);
  const moving = steps.filter(isMoving);
  if (published.length === 0 || moving.length === 0 || isChangedItself(observed.service)) return [];
  const seen = narrowed(observed, moving);
  const before = servedAddresses(seen);
  const after = servedAddresses(predict(seen, moving));
  return published.filter((address) => before.has(address) && !after.has(address)).sort();
}

type MovingStep = Extract<AzureStep, { kind: "loadBalancer" | "publicIP" }>;

/** The steps that can take an address away. */
function isMoving(step: Step): step is MovingStep {
  return step.kind === "loadBalancer" || step.kind === "publicIP";
}

/** At which addresses Azure serves it. */
function servedAddresses(observed: Observed): ReadonlySet<string> {
  const { base } = ownerOf(observed.service);
  return new Set(
    observed.loadBalancers.flatMap((loadBalancer) => addressesOn(observed, frontendsOf(loadBalancer, base))),
  );
}

/** What the steps of one Service can change of its addresses: the work is in proportion to that, not to the cluster. */
function narrowed(observed: Observed, steps: readonly MovingStep[]): Observed {
  const { base } = ownerOf(observed.service);
  const loadBalancers = observed.loadBalancers.flatMap((loadBalancer) => {
    const step = steps.find(({ kind, id }) => kind === "loadBalancer" && sameId(id, loadBalancer.id));
    const isThere = frontendsOf(loadBalancer, base).length > 0;
    return step === undefined && !isThere ? [] : [narrowedBody(loadBalancer, base, step)];
  });
  const ids = [
    ...loadBalancers.flatMap(({ properties }) => properties.frontendIPConfigurations ?? []).map(publicIPOf),
    ...steps.map(({ id }) => id),
  ];
  const names = new Set(ids.map((id) => nameOfId(id).toLowerCase()));
  const publicIP = new Map(
    [...listedOf(observed, "publicIP")].map(([group, list]) => {
      const { byName } = publicIPIndex(list);
      return [group, [...names].flatMap((name) => byName.get(name) ?? [])];
    }),
  );
  return { ...observed, loadBalancers, listed: { ...observed.listed, publicIP } };
}

function publicIPOf({ properties }: Frontend): string {
  return properties.publicIPAddress?.id ?? "";
}

/** The frontends of the Service, as they are and as the step names them, with all rules on them; one more stands for all others. */
function narrowedBody(loadBalancer: LoadBalancer, base: string, step: MovingStep | undefined): LoadBalancer {
  const index = loadBalancerIndex(loadBalancer);
  const names = new Set(frontendsOf(loadBalancer, base).map(({ name }) => name.toLowerCase()));
  if (step?.kind === "loadBalancer") {
    const { frontends, rules, releases } = step.fragment;
    for (const name of [...frontends.map((frontend) => frontend.name), ...releases]) names.add(name.toLowerCase());
    for (const { properties } of rules) names.add(frontendOf(properties.frontendIPConfiguration) ?? "");
  }
  const { frontendIPConfigurations = [] } = loadBalancer.properties;
  const other = frontendIPConfigurations.find(({ name }) => !names.has(name.toLowerCase()));
  const users = [...names].flatMap((name) => index.users.get(name) ?? []);
  const rules = users.flatMap(({ name }) => index.rules.get(name.toLowerCase()) ?? []);
  return {
    ...loadBalancer,
    properties: {
      ...loadBalancer.properties,
      frontendIPConfigurations: [
        ...[...names].flatMap((name) => index.frontends.get(name) ?? []),
        ...(other ? [other] : []),
      ],
      loadBalancingRules: [...new Set([...partsOf(index, base).rules, ...rules])],
      probes: partsOf(index, base).probes,
    },
  };
}
