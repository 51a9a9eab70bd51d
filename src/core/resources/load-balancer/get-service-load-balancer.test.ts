import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { aService, CONFIG } from "../../../../test/support/core-fixtures.ts";
import { aNode } from "../../../../test/support/core-world.ts";
import { aFragment, aFrontend, aLoadBalancer, aRule } from "../../../../test/support/fragments.ts";
import type { LoadBalancer } from "../../model/arm.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { parseService } from "../../intent/parse-service.ts";
import type { ServiceIntent } from "../../intent/service-intent.ts";
import { getServiceLoadBalancer, type Placement } from "./get-service-load-balancer.ts";
import { mergeLoadBalancer } from "./merge-load-balancer.ts";

const BASIC: ClusterConfig = { ...CONFIG, sku: "basic", poolType: "nodeIPConfiguration", primaryVmSet: "as-1" };
const MODE = "azure-load-balancer-mode";

function intentOf(annotations: Readonly<Record<string, string>>, config: ClusterConfig): ServiceIntent {
  const parsed = parseService(aService({ annotations }), config);
  return "intent" in parsed ? parsed.intent : assert.fail(parsed.message);
}

/** Named, with this many foreign rules. */
function named(name: string, rules = 0): LoadBalancer {
  const body = aLoadBalancer({
    frontends: [aFrontend("office")],
    rules: Array.from({ length: rules }, (_, at) => aRule(`office-${at}`, "office", 1_000 + at)),
  });
  return { ...body, name, id: body.id.replace(/kubernetes$/, name) };
}

/** With the Service on it. */
function serving(loadBalancer: LoadBalancer, intent: ServiceIntent): LoadBalancer {
  const { outcome } = mergeLoadBalancer(loadBalancer, [aFragment(intent.owner, { ports: [80] })]);
  return outcome.kind === "put" ? outcome.body : assert.fail();
}

const nodes = ["as-1", "as-2", "as-3"].map((set, at) =>
  aNode(`node-${at}`, [`10.0.0.${at}`], {
    providerID: `azure:///subscriptions/sub/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/${set}/virtualMachines/0`,
  }),
);

function placed(config: ClusterConfig, loadBalancers: readonly LoadBalancer[], intent: ServiceIntent): Placement {
  const placement = getServiceLoadBalancer({ config, nodes, loadBalancers }, intent);
  return "kind" in placement ? assert.fail(placement.message) : placement;
}

const namesOf = (list: readonly LoadBalancer[]): string[] => list.map(({ name }) => name);

describe("Standard", () => {
  test("one load balancer for each kind, under the configured name", () => {
    const config = { ...CONFIG, loadBalancerName: "front" };
    assert.equal(placed(config, [], intentOf({}, config)).name, "front");
    assert.equal(
      placed(config, [], intentOf({ "azure-load-balancer-internal": "true" }, config)).name,
      "front-internal",
    );
  });

  test("the one that exists is found whatever the case of its name, and keeps its id", () => {
    const placement = placed(CONFIG, [named("Kubernetes")], intentOf({}, CONFIG));
    assert.equal(placement.seen?.name, "Kubernetes");
    assert.match(placement.id, /loadBalancers\/Kubernetes$/);
  });

  test("parts on the opposite kind are left last, parts on another name first", () => {
    const intent = intentOf({}, CONFIG);
    const all = [named("kubernetes"), serving(named("kubernetes-internal"), intent), serving(named("older"), intent)];
    const placement = placed(CONFIG, all, intent);
    assert.deepEqual(namesOf(placement.flippedFrom), ["kubernetes-internal"]);
    assert.deepEqual(namesOf(placement.movedFrom), ["older"]);
  });
});

describe("Basic", () => {
  const at = (mode: string | undefined, loadBalancers: readonly LoadBalancer[]): string =>
    placed(BASIC, loadBalancers, intentOf(mode === undefined ? {} : { [MODE]: mode }, BASIC)).name;

  test("without a mode the primary VM set's", () => {
    assert.equal(at(undefined, [named("as-2")]), "kubernetes");
  });

  test("of the candidates, the first that has no load balancer yet", () => {
    assert.equal(at("__auto__", [named("kubernetes"), named("as-3")]), "as-2");
  });

  test("else the one with the fewest rules, the first of equals", () => {
    const all = [named("kubernetes", 3), named("as-2", 1), named("as-3", 1)];
    assert.equal(at("__auto__", all), "as-2");
    assert.equal(at("as-1,as-3", all), "as-3");
  });

  test("none below the limit is a rejection that names it", () => {
    const config = { ...BASIC, maximumLoadBalancerRuleCount: 2 };
    const placement = getServiceLoadBalancer(
      { config, nodes, loadBalancers: [named("as-2", 2)] },
      intentOf({ [MODE]: "as-2" }, config),
    );
    assert.ok("kind" in placement);
    assert.match(placement.message, /maximumLoadBalancerRuleCount/);
  });

  test("an unknown VM set is a rejection that names the known ones", () => {
    const placement = getServiceLoadBalancer(
      { config: BASIC, nodes, loadBalancers: [] },
      intentOf({ [MODE]: "as-9" }, BASIC),
    );
    assert.ok("kind" in placement);
    assert.match(placement.message, /"as-9".*as-1, as-2, as-3/);
  });

  test("a Service stays where it is, unless its mode names other sets", () => {
    const here = (mode: string | undefined): string => {
      const intent = intentOf(mode === undefined ? {} : { [MODE]: mode }, BASIC);
      const all = [named("kubernetes"), serving(named("as-2", 9), intent), named("as-3")];
      return placed(BASIC, all, intent).name;
    };
    assert.equal(here(undefined), "as-2");
    assert.equal(here("__auto__"), "as-2");
    assert.equal(here("as-2,as-3"), "as-2");
    assert.equal(here("as-3"), "as-3");
  });

  test("a VM set that has become the primary one is served by the cluster's load balancer", () => {
    const intent = intentOf({}, BASIC);
    const placement = placed(BASIC, [serving(named("as-1"), intent)], intent);
    assert.equal(placement.name, "kubernetes");
    assert.deepEqual(namesOf(placement.movedFrom), ["as-1"]);
  });
});

describe("many Services at once", () => {
  const services = Array.from({ length: 12 }, (_, at) => {
    const service = aService({ name: `many-${at}`, annotations: { [MODE]: "__auto__" } });
    return { ...service, metadata: { ...service.metadata, creationTimestamp: "2026-01-01T00:00:00Z" } };
  });
  const place = (config: ClusterConfig, loadBalancers: readonly LoadBalancer[] = []): (string | undefined)[] =>
    services.map((service) => {
      const parsed = parseService(service, config);
      const intent = "intent" in parsed ? parsed.intent : assert.fail(parsed.message);
      const input = { config, nodes, loadBalancers, service, otherServices: services };
      const placement = getServiceLoadBalancer(input, intent);
      return "kind" in placement ? undefined : placement.name;
    });
  const counts = (names: readonly (string | undefined)[]): Record<string, number> =>
    Object.fromEntries(
      [...new Set(names.map(String))].sort().map((name) => [name, names.filter((one) => String(one) === name).length]),
    );

  test("spread over the sets as if they came one by one", () => {
    assert.deepEqual(counts(place(BASIC)), { "as-2": 4, "as-3": 4, kubernetes: 4 });
    assert.deepEqual(counts(place(BASIC, [named("as-2", 4)])), { "as-2": 1, "as-3": 5, kubernetes: 6 });
  });

  test("stay below the limit together: those beyond it are refused", () => {
    const config = { ...BASIC, maximumLoadBalancerRuleCount: 3 };
    assert.deepEqual(counts(place(config)), { "as-2": 3, "as-3": 3, kubernetes: 3, undefined: 3 });
  });
});
