/** What holds of the merge for any load balancer and any batch. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../../../../test/support/laws.ts";
import { byOwner } from "../../../../test/support/by-owner.ts";
import { aFragment, aFrontend, aLoadBalancer, anOwner, aRule } from "../../../../test/support/fragments.ts";
import type { LoadBalancer } from "../../model/arm.ts";
import { nameOfId } from "../../model/ids.ts";
import type { LoadBalancerFragment } from "./fragment.ts";
import { baseOf } from "../../model/names.ts";
import { loadBalancerIndex } from "./load-balancer-index.ts";
import { isSettled, keepsPublicIP, mergeLoadBalancer as merge, reconcileLoadBalancer } from "./merge-load-balancer.ts";

const mergeLoadBalancer = byOwner(merge, ({ owner }) => owner.key);

const OWNERS = ["a", "b", "c", "d"].map(anOwner);
const OFFICE = ["office", "door"];
const PORT = fc.integer({ min: 80, max: 83 });

const foreign: fc.Arbitrary<LoadBalancer> = fc
  .record({
    frontends: fc.subarray(OFFICE),
    ports: fc.uniqueArray(fc.tuple(fc.constantFrom(...OFFICE), PORT), { maxLength: 3, selector: String }),
    pools: fc.subarray(["office-pool", "kubernetes"]),
    outbound: fc.boolean(),
  })
  .map(({ frontends, ports, pools, outbound }) => {
    const rules = ports
      .filter(([frontend]) => frontends.includes(frontend))
      .map(([frontend, port]) => aRule(`${frontend}rule-${port}`, frontend, port));
    return aLoadBalancer({
      frontends: frontends.map((name) => ({ ...aFrontend(name), unknown: { to: "us" } })),
      rules,
      pools,
      ...(outbound && frontends[0] !== undefined && { outboundFrom: frontends[0] }),
    });
  });

/** Of one owner: present on its own frontend or on another owner's, or absent. */
function fragmentOf(at: number): fc.Arbitrary<LoadBalancerFragment> {
  const owner = OWNERS[at] ?? assert.fail();
  const others = OWNERS.filter((other) => other !== owner).map(({ base }) => base);
  return fc
    .record({
      isPresent: fc.boolean(),
      ports: fc.uniqueArray(PORT, { minLength: 1, maxLength: 3 }),
      frontend: fc.constantFrom(owner.base, owner.base, ...OFFICE, ...others),
      publicIP: fc.constantFrom("one", "two"),
      releases: fc.subarray(others),
    })
    .map(({ isPresent, ports, frontend, publicIP, releases }) => {
      if (isPresent) return { ...aFragment(owner, { ports, frontend, publicIP: `${publicIP}-${at}` }), releases };
      return { ...aFragment(owner, {}), shell: undefined, frontends: [], pools: [], releases };
    });
}

const batch = fc.subarray([0, 1, 2, 3], { minLength: 1 }).chain((chosen) => fc.tuple(...chosen.map(fragmentOf)));
/** A load balancer with a past: what one batch made of a foreign one. */
const world = fc.tuple(foreign, batch, batch).map(([start, first, then]) => {
  const { outcome } = mergeLoadBalancer(start, first);
  return { seen: outcome.kind === "put" ? outcome.body : start, batch: then };
});

function resultOf(seen: LoadBalancer, fragments: readonly LoadBalancerFragment[]): LoadBalancer | undefined {
  const { outcome } = mergeLoadBalancer(seen, fragments);
  return outcome.kind === "put" ? outcome.body : outcome.kind === "delete" ? undefined : seen;
}

test("the order of the fragments does not matter", () => {
  fc.assert(
    fc.property(world, fc.nat(), ({ seen, batch }, turn) => {
      const at = turn % batch.length;
      const turned = [...batch.slice(at), ...batch.slice(0, at)].toReversed();
      assert.deepEqual(mergeLoadBalancer(seen, turned), mergeLoadBalancer(seen, batch));
    }),
    { numRuns: 500 },
  );
});

test("merging the same again changes nothing, and every fragment that was not refused is settled", () => {
  fc.assert(
    fc.property(world, ({ seen, batch }) => {
      const { refused, stale } = mergeLoadBalancer(seen, batch);
      const after = resultOf(seen, batch);
      const accepted = batch.filter(
        ({ owner }) => !refused.some((one) => one.owner === owner.key) && !stale.includes(owner.key),
      );
      assert.deepEqual(mergeLoadBalancer(after, accepted).outcome, { kind: "unchanged" });
      assert.ok(accepted.every((fragment) => isSettled(after, fragment)));
    }),
    { numRuns: 500 },
  );
});

test("nothing of other owners changes, is lost or moves", () => {
  const others = (body: LoadBalancer, batch: readonly LoadBalancerFragment[]) => {
    const bases = new Set(batch.map(({ owner }) => owner.base));
    const released = new Set(batch.flatMap(({ releases }) => releases));
    const isOther = ({ name }: { readonly name: string }): boolean => !bases.has(baseOf(name)) && !released.has(name);
    const { frontendIPConfigurations, loadBalancingRules, probes, outboundRules, backendAddressPools } =
      body.properties;
    const pools = (backendAddressPools ?? []).filter(({ name }) => name !== "kubernetes");
    return [frontendIPConfigurations, loadBalancingRules, probes, outboundRules, pools].map((list) =>
      (list ?? []).filter(isOther),
    );
  };
  fc.assert(
    fc.property(world, ({ seen, batch }) => {
      const after = resultOf(seen, batch);
      const before = others(seen, batch);
      if (after === undefined)
        assert.ok(
          before.every((list) => list.length === 0),
          "deleted although others were there",
        );
      else assert.deepEqual(others(after, batch), before);
    }),
    { numRuns: 500 },
  );
});

test("no rule stands without its frontend or its probe, and no port is taken twice", () => {
  fc.assert(
    fc.property(world, ({ seen, batch }) => {
      const {
        frontendIPConfigurations = [],
        loadBalancingRules = [],
        probes = [],
      } = resultOf(seen, batch)?.properties ?? {};
      const present = new Set([...frontendIPConfigurations, ...probes].map(({ name }) => name));
      for (const { properties } of loadBalancingRules) {
        for (const reference of [properties.frontendIPConfiguration, properties.probe]) {
          assert.ok(reference === undefined || present.has(nameOfId(reference.id)), reference?.id);
        }
      }
      const ports = loadBalancingRules.map(
        ({ properties }) => `${properties.frontendIPConfiguration?.id} ${properties.frontendPort}`,
      );
      assert.equal(new Set(ports).size, ports.length);
    }),
    { numRuns: 500 },
  );
});

test("a refused Service keeps exactly what it had", () => {
  const ownParts = (body: LoadBalancer | undefined, base: string) => {
    const { loadBalancingRules = [], probes = [] } = body?.properties ?? {};
    return [loadBalancingRules, probes].map((list) => list.filter(({ name }) => baseOf(name) === base));
  };
  fc.assert(
    fc.property(world, ({ seen, batch }) => {
      const after = resultOf(seen, batch);
      for (const { owner } of mergeLoadBalancer(seen, batch).refused) {
        const base = batch.find((fragment) => fragment.owner.key === owner)?.owner.base ?? "";
        assert.deepEqual(ownParts(after, base), ownParts(seen, base));
      }
    }),
    { numRuns: 500 },
  );
});

/** With frontends that are held or shared, and rules that it replaces. */
const alone = world.chain(({ seen, batch: [fragment = assert.fail()] }) => {
  const { frontendIPConfigurations = [], loadBalancingRules = [] } = seen.properties;
  const frontends = frontendIPConfigurations.map(({ name }) => name.toLowerCase());
  return fc
    .record({
      shares: fc.subarray(frontends),
      holding: fc.subarray(frontends),
      replaces: fc.subarray(loadBalancingRules.map(({ name }) => name)),
    })
    .map(({ shares, holding, replaces }) => {
      const held = holding.map((frontend) => ({ frontend, by: undefined }));
      return { seen, fragment: { ...fragment, shares, held, replaces } };
    });
});

test("one fragment is decided as the merge of it alone, without its pass", () => {
  fc.assert(
    fc.property(alone, ({ seen, fragment }) => {
      const { outcome, refused, stale } = mergeLoadBalancer(seen, [fragment]);
      const result = reconcileLoadBalancer(seen.id, seen, fragment);
      const expected = refused.length > 0 ? "reject" : stale.length > 0 ? "stale" : undefined;
      assert.equal(result.kind, expected ?? (outcome.kind === "unchanged" ? "settled" : "act"));
      assert.equal(result.kind === "act" && result.deletes, outcome.kind === "delete");
    }),
    { numRuns: 500 },
  );
});

test("a Service that leaves keeps those public IPs in place that the merge keeps", () => {
  fc.assert(
    fc.property(alone, ({ seen, fragment }) => {
      const absence = { ...fragment, shell: undefined, frontends: [], probes: [], rules: [], pools: [], shares: [] };
      const { outcome } = mergeLoadBalancer(seen, [absence]);
      const left = outcome.kind === "put" ? loadBalancerIndex(outcome.body).byPublicIP : undefined;
      for (const id of loadBalancerIndex(seen).byPublicIP.keys())
        assert.equal(keepsPublicIP(seen, absence, id), left?.has(id) === true, id);
    }),
    { numRuns: 500 },
  );
});
