import assert from "node:assert/strict";
import { describe, test } from "node:test";

import * as fc from "../../../../test/support/laws.ts";
import { byOwner } from "../../../../test/support/by-owner.ts";
import type { AdminState, BackendAddress, BackendPool } from "../../model/arm.ts";
import { type BackendChange, entryName, mergeBackends as merge } from "./merge-backends.ts";

/** A change, and what tests call it. */
interface Named extends BackendChange {
  readonly owner: string;
}

const mergeBackends = byOwner(merge, ({ owner }: Named) => owner);

const POOL_ID = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/loadBalancers/lb/backendAddressPools/p";
const NETWORK = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/vnet";

function pool(entries: readonly BackendAddress[], properties: object = {}): BackendPool {
  return {
    id: POOL_ID,
    name: "p",
    properties: { virtualNetwork: { id: NETWORK }, loadBalancerBackendAddresses: entries, ...properties },
  };
}

const nameOf = (ip: string): string => entryName("kubernetes", POOL_ID, ip);
const own = (ip: string, more: object = {}): BackendAddress => ({
  name: nameOf(ip),
  properties: { ipAddress: ip, ...more },
});

function change(owner: string, what: BackendChange["change"]): Named {
  return { owner, virtualNetworkId: NETWORK, change: what };
}

function present(ip: string, state?: AdminState, atMost = 5_000): Named {
  return change(`+${ip}`, { kind: "present", name: nameOf(ip), ipAddress: ip, adminState: () => state, atMost });
}

const absent = (ip: string): Named => change(`-${ip}`, { kind: "absent", name: nameOf(ip) });
const states = (ip: string, state: AdminState): Named =>
  change("states", { kind: "states", states: new Map([[nameOf(ip), state]]) });

function after(seen: BackendPool, ...changes: Named[]): readonly BackendAddress[] {
  const { outcome } = mergeBackends(seen, changes);
  const body = outcome.kind === "put" ? outcome.body : seen;
  return body.properties.loadBalancerBackendAddresses ?? [];
}

describe("mergeBackends", () => {
  test("adds and takes out any number in one write", () => {
    const seen = pool([own("10.0.0.1"), own("10.0.0.2")]);
    const result = after(seen, present("10.0.0.3"), absent("10.0.0.1"), present("10.0.0.4"));
    assert.deepEqual(
      result.map(({ properties }) => properties.ipAddress),
      ["10.0.0.2", "10.0.0.3", "10.0.0.4"],
    );
  });

  test("says nothing where all is right", () => {
    const seen = pool([own("10.0.0.1")]);
    assert.equal(mergeBackends(seen, [present("10.0.0.1"), absent("10.0.0.9")]).outcome.kind, "unchanged");
  });

  test("an entry that was edited to another address is corrected by the next ensure", () => {
    const seen = pool([{ name: nameOf("10.0.0.1"), properties: { ipAddress: "10.9.9.9", note: "x" } }]);
    assert.deepEqual(after(seen, present("10.0.0.1")), [own("10.0.0.1", { note: "x" })]);
  });

  test("a user's Up on an entry stays, a Down without its taint is reset, a tainted node's goes Down", () => {
    const seen = pool([
      own("10.0.0.1", { adminState: "Up" }),
      own("10.0.0.2", { adminState: "Down" }),
      own("10.0.0.3"),
    ]);
    const result = after(seen, states("10.0.0.1", "None"), states("10.0.0.2", "None"), states("10.0.0.3", "Down"));
    assert.deepEqual(
      result.map(({ properties }) => properties.adminState),
      ["Up", "None", "Down"],
    );
  });

  test("a state does not bring back who was removed by hand", () => {
    assert.deepEqual(after(pool([]), states("10.0.0.1", "Down")), []);
  });

  test("who comes and goes in one batch is in", () => {
    assert.equal(after(pool([own("10.0.0.1")]), absent("10.0.0.1"), present("10.0.0.1")).length, 1);
  });

  test("an address under a foreign name is not added again, and its owner hears of it", () => {
    const foreign = { name: "theirs", properties: { ipAddress: "10.0.0.1" } };
    const merged = mergeBackends(pool([foreign]), [present("10.0.0.1")]);
    assert.equal(merged.outcome.kind, "unchanged");
    assert.deepEqual(
      merged.warnings.map(({ owner, warning }) => [owner, warning.reason]),
      [["+10.0.0.1", "ForeignEntry"]],
    );
  });

  test("a full pool refuses the surplus and takes the rest", () => {
    const merged = mergeBackends(pool([own("10.0.0.1")]), [
      present("10.0.0.2", undefined, 2),
      present("10.0.0.3", undefined, 2),
    ]);
    assert.equal(merged.outcome.kind, "put");
    assert.deepEqual(
      merged.refused.map(({ owner, rejection }) => [owner, rejection.reason]),
      [["+10.0.0.3", "PoolFull"]],
    );
  });

  test("a pool that is gone is empty for who leaves, and a refusal for who comes", () => {
    const merged = mergeBackends(undefined, [absent("10.0.0.1"), present("10.0.0.2")]);
    assert.equal(merged.outcome.kind, "unchanged");
    assert.deepEqual(
      merged.refused.map(({ owner, rejection }) => [owner, rejection.reason]),
      [["+10.0.0.2", "PoolNotFound"]],
    );
  });

  test("a pool of network interfaces is not mixed with addresses", () => {
    const nic = { name: "nic", properties: { networkInterfaceIPConfiguration: { id: "/x" } } };
    assert.equal(mergeBackends(pool([nic]), [present("10.0.0.1")]).refused[0]?.rejection.reason, "PoolOfInterfaces");
  });

  test("names fit Azure, whatever the cluster is called", () => {
    assert.match(nameOf("10.0.0.1"), /^azlb-kubernetes-[\da-f]{16}$/);
    const long = entryName("Ünusual cluster ".repeat(20), POOL_ID, "10.0.0.1");
    assert.ok(long.length <= 80 && /^[a-z0-9._-]+$/.test(long), long);
    assert.equal(nameOf("fd00::1"), nameOf("fd00:0:0::1"));
  });
});

const ip = fc.integer({ min: 1, max: 12 }).map((last) => `10.0.0.${last}`);
const foreignEntry = fc.record({
  name: fc.constantFrom("a", "b", "azlb-other-0123456789abcdef", "node-1"),
  properties: fc.record({
    ipAddress: ip,
    adminState: fc.constantFrom("Up", "Down"),
    unknown: fc.jsonValue(),
  }),
}) as fc.Arbitrary<BackendAddress>;
const ownEntry = fc
  .tuple(ip, fc.constantFrom(undefined, "Up", "Down"))
  .map(([address, state]) => own(address, state && { adminState: state }));
const seenPool = fc
  .uniqueArray(fc.oneof(foreignEntry, ownEntry), { selector: ({ name }) => name, maxLength: 12 })
  .map((entries) => pool(entries));
const anyChange = fc.oneof(
  ip.map((each) => present(each)),
  ip.map(absent),
  fc.tuple(ip, fc.constantFrom<AdminState>("None", "Down")).map(([each, state]) => states(each, state)),
);
const changes = fc.uniqueArray(anyChange, {
  selector: ({ owner, change: what }) => `${owner}${what.kind}`,
  maxLength: 10,
});
const isForeign = ({ name }: BackendAddress): boolean => !name.startsWith("azlb-kubernetes-");

test("law: foreign entries are written back as read, in order, as the same objects", () => {
  fc.assert(
    fc.property(seenPool, changes, (seen, batch) => {
      const before = (seen.properties.loadBalancerBackendAddresses ?? []).filter(isForeign);
      const kept = after(seen, ...batch).filter(isForeign);
      assert.equal(kept.length, before.length);
      for (const [at, entry] of kept.entries()) assert.equal(entry, before[at]);
    }),
  );
});

test("law: merging the result again changes nothing, and no name is there twice", () => {
  fc.assert(
    fc.property(seenPool, changes, (seen, batch) => {
      const result = after(seen, ...batch);
      assert.equal(new Set(result.map(({ name }) => name)).size, result.length);
      assert.equal(mergeBackends(pool(result), batch).outcome.kind, "unchanged");
    }),
  );
});

test("law: the order of the changes does not matter", () => {
  fc.assert(
    fc.property(seenPool, changes, (seen, batch) => {
      const sorted = (entries: readonly BackendAddress[]): unknown =>
        entries.map((each) => JSON.stringify(each)).sort();
      assert.deepEqual(sorted(after(seen, ...batch)), sorted(after(seen, ...batch.toReversed())));
    }),
  );
});
