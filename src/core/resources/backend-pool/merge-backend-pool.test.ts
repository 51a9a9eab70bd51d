import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "../../../../test/support/laws.ts";
import { type ByOwner, byOwner } from "../../../../test/support/by-owner.ts";
import { CONFIG } from "../../../../test/support/core-fixtures.ts";
import { aNode } from "../../../../test/support/core-world.ts";
import { nodeFinder, reconcileAdminState } from "../../admin-state/reconcile-admin-state.ts";
import type { BackendAddress, BackendPool } from "../../model/arm.ts";
import type { Node } from "../../model/kubernetes.ts";
import { desiredBackendPool } from "./desired-backend-pool.ts";
import type { BackendPoolFragment } from "./fragment.ts";
import { mergeBackendPool as merge } from "./merge-backend-pool.ts";

function mergeBackendPool(seen: BackendPool, fragment: BackendPoolFragment): ByOwner<BackendPool> {
  return byOwner(merge, () => "cluster")(seen, [fragment]);
}

const OUT_OF_SERVICE = { key: "node.kubernetes.io/out-of-service", effect: "NoExecute" };
const VNET = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/vnet";

function entry(name: string, ipAddress: string, more: Partial<BackendAddress["properties"]> = {}): BackendAddress {
  return { name, properties: { ipAddress, ...more } };
}

function pool(entries: readonly BackendAddress[], more: Partial<BackendPool["properties"]> = {}): BackendPool {
  return {
    name: "kubernetes",
    properties: { virtualNetwork: { id: VNET }, loadBalancerBackendAddresses: entries, ...more },
  };
}

function wanted(nodes: readonly Node[], known: readonly string[] = [], config = CONFIG): BackendPoolFragment {
  return desiredBackendPool({ config, nodes, known }, "IPv4");
}

function entriesAfter(seen: BackendPool, fragment: BackendPoolFragment): readonly BackendAddress[] {
  const { outcome } = mergeBackendPool(seen, fragment);
  assert.equal(outcome.kind, "put");
  return outcome.kind === "put" ? (outcome.body.properties.loadBalancerBackendAddresses ?? []) : [];
}

const [one, two] = [aNode("one", ["10.0.0.1", "fd00::1"]), aNode("two", ["10.0.0.2"])];

describe("entries of nodes", () => {
  test("an empty pool gets all nodes, and the VNet", () => {
    const { outcome } = mergeBackendPool({ name: "kubernetes", properties: {} }, wanted([two, one]));
    assert.ok(outcome.kind === "put");
    assert.deepEqual(outcome.body.properties, {
      virtualNetwork: { id: VNET },
      loadBalancerBackendAddresses: [entry("one", "10.0.0.1"), entry("two", "10.0.0.2")],
    });
  });

  test("what is right is not written again", () => {
    const seen = pool([entry("two", "10.0.0.2", { provisioningState: "Succeeded" }), entry("one", "10.0.0.1")]);
    assert.deepEqual(mergeBackendPool(seen, wanted([one, two])).outcome, { kind: "unchanged" });
  });

  test("a node that is no longer eligible leaves", () => {
    const excluded = { ...two, spec: { taints: [{ key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" }] } };
    const seen = pool([entry("one", "10.0.0.1"), entry("two", "10.0.0.2")]);
    assert.deepEqual(entriesAfter(seen, wanted([one, excluded])), [entry("one", "10.0.0.1")]);
  });

  test("a node that vanished while we were away leaves, because it stands in the member list", () => {
    const seen = pool([entry("one", "10.0.0.1"), entry("gone", "10.0.0.9")]);
    assert.deepEqual(entriesAfter(seen, wanted([one], ["one", "gone"])), [entry("one", "10.0.0.1")]);
  });

  test("a node without an address of the family is left out, not added empty", () => {
    const fragment = desiredBackendPool({ config: CONFIG, nodes: [one, two], known: [] }, "IPv6");
    assert.deepEqual(
      fragment.members.map(({ name }) => name),
      ["one"],
    );
  });

  test("a changed address is corrected in place, and what else stands on the entry stays", () => {
    const seen = pool([{ ...entry("one", "10.0.0.7", { extra: 1 }), id: "x" }]);
    assert.deepEqual(entriesAfter(seen, wanted([one])), [{ ...entry("one", "10.0.0.1", { extra: 1 }), id: "x" }]);
  });

  test("an entry with a node's address under another name is the node's: it is neither doubled nor foreign", () => {
    const seen = pool([entry("0c1d-migrated", "10.0.0.1"), entry("two", "10.0.0.2")]);
    const { outcome, warnings } = mergeBackendPool(seen, wanted([one, two]));
    assert.deepEqual([outcome, warnings], [{ kind: "unchanged" }, []]);
  });

  test("without nodes the pool is left as it is: not knowing is no reason to empty it", () => {
    const seen = pool([entry("one", "10.0.0.1")]);
    assert.deepEqual(mergeBackendPool(seen, wanted([], ["one"])).outcome, { kind: "unchanged" });
  });
});

describe("entries of others", () => {
  test("a person's server stays, and is reported", () => {
    const server = entry("server", "10.0.0.99", { adminState: "Up" });
    const { outcome, warnings } = mergeBackendPool(pool([server]), wanted([one]));
    assert.ok(outcome.kind === "put");
    assert.equal(outcome.body.properties.loadBalancerBackendAddresses?.[0], server);
    assert.match(warnings[0]?.warning.message ?? "", /"server"/);
  });

  test("new entries follow a pool that has the VNet on each entry", () => {
    const server = entry("server", "10.0.0.99", { virtualNetwork: { id: VNET } });
    const seen: BackendPool = { name: "kubernetes", properties: { loadBalancerBackendAddresses: [server] } };
    assert.deepEqual(entriesAfter(seen, wanted([one])), [
      server,
      entry("one", "10.0.0.1", { virtualNetwork: { id: VNET } }),
    ]);
  });

  test("a pool of network interfaces is refused, not mixed", () => {
    const seen = pool([], { backendIPConfigurations: [{ id: "nic" }] });
    const { outcome, refused } = mergeBackendPool(seen, wanted([one]));
    assert.equal(outcome.kind, "unchanged");
    assert.match(refused[0]?.rejection.message ?? "", /loadBalancerBackendPoolConfigurationType/);
  });
});

describe("admin state", () => {
  const down = { ...one, spec: { taints: [OUT_OF_SERVICE] } };

  test("a draining node joins and stays Down", () => {
    assert.deepEqual(entriesAfter(pool([]), wanted([down])), [entry("one", "10.0.0.1", { adminState: "Down" })]);
    assert.deepEqual(entriesAfter(pool([entry("one", "10.0.0.1", { adminState: "Up" })]), wanted([down])), [
      entry("one", "10.0.0.1", { adminState: "Down" }),
    ]);
  });

  test("a Down that is left over goes back to None; an Up is a person's", () => {
    assert.deepEqual(entriesAfter(pool([entry("one", "10.0.0.1", { adminState: "Down" })]), wanted([one])), [
      entry("one", "10.0.0.1", { adminState: "None" }),
    ]);
    const up = pool([entry("one", "10.0.0.1", { adminState: "Up" })]);
    assert.deepEqual(mergeBackendPool(up, wanted([one])).outcome, { kind: "unchanged" });
  });

  test("where the config turns it off, nothing is touched", () => {
    const config = { ...CONFIG, enableAdminState: false };
    const seen = pool([entry("one", "10.0.0.1", { adminState: "Down" })]);
    assert.deepEqual(mergeBackendPool(seen, wanted([one], [], config)).outcome, { kind: "unchanged" });
    assert.deepEqual(mergeBackendPool(pool([entry("one", "10.0.0.1")]), wanted([down], [], config)).outcome, {
      kind: "unchanged",
    });
  });
});

test("law: any pool and any nodes: others' entries are untouched, ours are the nodes, and once is enough", () => {
  const node = fc.record({ at: fc.integer({ min: 1, max: 5 }), isOut: fc.boolean() });
  const other = fc.constantFrom("server-1", "server-2");
  const property = fc.property(
    fc.uniqueArray(node, { minLength: 1, selector: ({ at }) => at }),
    fc.uniqueArray(
      fc.oneof(
        other,
        fc.integer({ min: 1, max: 8 }).map((at) => `node-${at}`),
      ),
    ),
    (chosen, present) => {
      const nodes = chosen.map(({ at, isOut }) =>
        aNode(`node-${at}`, [`10.0.0.${at}`], isOut ? { taints: [OUT_OF_SERVICE] } : {}),
      );
      const entries = present.map((name) =>
        entry(name, name.startsWith("node-") ? `10.0.0.${name.slice(5)}` : `10.0.1.${name.slice(7)}`),
      );
      const seen = pool(entries);
      const fragment = wanted(nodes, ["node-6", "node-7", "node-8"]);
      const { outcome } = mergeBackendPool(seen, fragment);
      const after = outcome.kind === "put" ? outcome.body : seen;
      const result = after.properties.loadBalancerBackendAddresses ?? [];
      const isForeign = ({ name }: BackendAddress): boolean => name.startsWith("server-");
      assert.deepEqual(result.filter(isForeign), entries.filter(isForeign));
      const ours = result.filter((one) => !isForeign(one)).map(({ name }) => name);
      const foreignNodes = present.filter(
        (name) => /^node-[1-5]$/.test(name) && !nodes.some(({ metadata }) => metadata.name === name),
      );
      assert.deepEqual(ours.sort(), [...nodes.map(({ metadata }) => metadata.name), ...foreignNodes].sort());
      assert.deepEqual(mergeBackendPool(after, fragment).outcome, { kind: "unchanged" });
    },
  );
  fc.assert(property, { numRuns: 300 });
});

describe("nodes that say they have the same address", () => {
  const aged = (name: string, address: string, year: number, more: Partial<Node["spec"]> = {}): Node => {
    const node = aNode(name, [address], more);
    return { ...node, metadata: { ...node.metadata, creationTimestamp: `${year}-01-01T00:00:00Z` } };
  };
  const victim = aged("victim", "10.0.0.1", 2025);

  for (const year of [2024, 2026]) {
    test(`the one whose entry is there keeps it, also if the other is from ${year}`, () => {
      const thief = aged("thief", "10.0.0.1", year, { taints: [OUT_OF_SERVICE] });
      const seen = pool([entry("victim", "10.0.0.1")]);
      for (const nodes of [
        [victim, thief],
        [thief, victim],
      ]) {
        assert.deepEqual(mergeBackendPool(seen, wanted(nodes)).outcome, { kind: "unchanged" });
      }
    });
  }

  test("one that had another address before gives up its own entry", () => {
    const seen = pool([entry("thief", "10.0.0.2"), entry("victim", "10.0.0.1")]);
    const fragment = wanted([aged("thief", "10.0.0.1", 2024), victim]);
    assert.deepEqual(entriesAfter(seen, fragment), [entry("victim", "10.0.0.1")]);
  });

  test("where neither is there the oldest comes; where both are, it stays under its own name", () => {
    const nodes = [aged("younger", "10.0.0.1", 2026, { taints: [OUT_OF_SERVICE] }), victim];
    assert.deepEqual(entriesAfter(pool([]), wanted(nodes)), [entry("victim", "10.0.0.1")]);
    const both = pool([entry("younger", "10.0.0.1", { adminState: "Down" }), entry("victim", "10.0.0.1")]);
    assert.deepEqual(entriesAfter(both, wanted(nodes)), [entry("victim", "10.0.0.1")]);
  });

  test("a Node in deletion gives its address up", () => {
    const { metadata, ...rest } = victim;
    const leaving = { ...rest, metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    const seen = pool([entry("victim", "10.0.0.1")]);
    assert.deepEqual(entriesAfter(seen, wanted([leaving, aged("heir", "10.0.0.1", 2026)])), [
      entry("heir", "10.0.0.1"),
    ]);
  });

  test("law: each address once, whatever the order of the nodes, and admin states agree with it", () => {
    const node = fc.record({ name: fc.nat(5), address: fc.nat(2), year: fc.nat(3), isDown: fc.boolean() });
    const seenEntry = fc.record({ name: fc.nat(6), address: fc.nat(3), isDown: fc.boolean() });
    fc.assert(
      fc.property(
        fc.uniqueArray(node, { selector: ({ name }) => name, minLength: 1 }),
        fc.uniqueArray(seenEntry, { selector: ({ name }) => name }),
        (shapes, entries) => {
          const nodes = shapes.map(({ name, address, year, isDown }) =>
            aged(`n${name}`, `10.0.0.${address}`, 2020 + year, isDown ? { taints: [OUT_OF_SERVICE] } : {}),
          );
          const seen = pool(
            entries.map(({ name, address, isDown }) =>
              entry(`n${name}`, `10.0.0.${address}`, isDown ? { adminState: "Down" } : {}),
            ),
          );
          const known = [0, 1, 2, 3, 4, 5, 6].map((name) => `n${name}`);
          const after = bodyAfter(seen, wanted(nodes, known));
          assert.deepEqual(bodyAfter(seen, wanted(nodes.toReversed(), known)), after);
          assert.equal(bodyAfter(after, wanted(nodes, known)), after);
          assert.equal(reconcileAdminState(after, nodeFinder(nodes)), after);
          const addresses = (after.properties.loadBalancerBackendAddresses ?? []).map(
            (one) => one.properties.ipAddress,
          );
          assert.deepEqual(new Set(addresses), new Set(shapes.map(({ address }) => `10.0.0.${address}`)));
          assert.equal(addresses.length, new Set(addresses).size);
        },
      ),
    );
  });
});

function bodyAfter(seen: BackendPool, fragment: BackendPoolFragment): BackendPool {
  const { outcome } = mergeBackendPool(seen, fragment);
  return outcome.kind === "put" ? outcome.body : seen;
}
