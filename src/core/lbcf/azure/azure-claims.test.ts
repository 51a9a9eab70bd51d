import assert from "node:assert/strict";
import { describe, test } from "node:test";

import fc from "fast-check";

import { CONFIG } from "../../../../test/support/core-fixtures.ts";
import { meta } from "../../../../test/support/lbcf-objects.ts";
import type { LoadBalancer } from "../objects/objects.ts";
import {
  type AzureClaim,
  azureClaim,
  claimConflict,
  claimedNames,
  poolHolder,
  type ServiceByBase,
  sharedBy,
} from "./azure-claims.ts";

interface Given {
  readonly namespace: string;
  readonly name?: string;
  readonly lbSpec?: Record<string, string>;
  readonly attributes?: Record<string, string>;
  readonly synced?: Record<string, string>;
  readonly createdAt?: string;
  readonly isBegun?: boolean;
  readonly lbInfo?: Record<string, string>;
  readonly shareWith?: string;
}

function claim(given: Given): AzureClaim {
  const { namespace, name = "web", lbSpec = {}, attributes = {}, synced, createdAt = "2026-01-01", isBegun } = given;
  const annotations = given.shareWith === undefined ? {} : { "lbcf.tkestack.io/share-with": given.shareWith };
  const own = { namespace, uid: `${namespace}-${name}`, creationTimestamp: createdAt, annotations };
  const metadata = { ...meta(name), ...own };
  const lb: LoadBalancer = {
    metadata,
    spec: {
      lbDriver: "lbcf-azure",
      lbSpec: { name: "lb", ...lbSpec },
      attributes,
      scope: [],
      ensurePolicy: { policy: "IfNotSucc" },
    },
    status: {
      conditions: isBegun ? [{ type: "Created", status: "False" }] : [],
      ...(synced && { lastSyncedAttributes: synced }),
      ...(given.lbInfo && { lbInfo: given.lbInfo }),
    },
  };
  return azureClaim(lb, `${namespace}/${name}`, CONFIG) ?? assert.fail();
}

const POOL = { pool: "shared" };
/** Of `shop/web`, which shares with the namespaces `b` and `b2`. */
const FRONTEND = `a${"1".repeat(31)}`;
const SERVICE = { key: "shop/web", sharesWith: ["b", "b2"], annotation: "azlb.io/share-address-with" };
const serviceOf: ServiceByBase = (base) => (base === FRONTEND ? SERVICE : undefined);
const conflicts: readonly (readonly [string, Given, readonly Given[], RegExp | undefined])[] = [
  ["no other", { namespace: "a", lbSpec: POOL }, [], undefined],
  ["the same namespace", { namespace: "a", lbSpec: POOL }, [{ namespace: "a", name: "x", lbSpec: POOL }], undefined],
  ["another pool", { namespace: "b", lbSpec: { pool: "other" } }, [{ namespace: "a", lbSpec: POOL }], undefined],
  [
    "another load balancer",
    { namespace: "b", lbSpec: { ...POOL, name: "lb2" } },
    [{ namespace: "a", lbSpec: POOL }],
    undefined,
  ],
  [
    "an older one, in another spelling",
    { namespace: "b", lbSpec: { pool: "SHARED" }, createdAt: "2026-01-02" },
    [{ namespace: "a", lbSpec: POOL }],
    /^lbSpec\.pool "SHARED" of load balancer "lb" is used by namespace "a": choose another pool, leave it out, or add "b" to annotation lbcf\.tkestack\.io\/share-with of "web" there$/,
  ],
  [
    "an older one that shares with it",
    { namespace: "b", lbSpec: POOL, createdAt: "2026-01-02" },
    [{ namespace: "a", lbSpec: POOL, shareWith: "c, b" }],
    undefined,
  ],
  [
    "an older one that shares with all",
    { namespace: "b", lbSpec: POOL, createdAt: "2026-01-02" },
    [{ namespace: "a", lbSpec: POOL, shareWith: "*" }],
    undefined,
  ],
  [
    "an older one whose namespace shares it by another object",
    { namespace: "b", lbSpec: POOL, createdAt: "2026-01-02" },
    [
      { namespace: "a", lbSpec: POOL },
      { namespace: "a", name: "x", lbSpec: POOL, shareWith: "b" },
    ],
    undefined,
  ],
  [
    "an older one that shares with others only",
    { namespace: "b", lbSpec: POOL, createdAt: "2026-01-02" },
    [{ namespace: "a", lbSpec: POOL, shareWith: "c,bb" }],
    /"a"/,
  ],
  [
    "an older one, where a third namespace consents that does not hold it",
    { namespace: "b", lbSpec: POOL, createdAt: "2026-01-03" },
    [
      { namespace: "a", lbSpec: POOL },
      { namespace: "c", lbSpec: POOL, createdAt: "2026-01-02", shareWith: "b" },
    ],
    /"a"/,
  ],
  [
    "a younger one",
    { namespace: "a", lbSpec: POOL },
    [{ namespace: "b", lbSpec: POOL, createdAt: "2026-01-02" }],
    undefined,
  ],
  [
    "one of the same second, with a lower uid",
    { namespace: "b", lbSpec: POOL },
    [{ namespace: "a", lbSpec: POOL }],
    /"a"/,
  ],
  [
    "a younger one that uses it already",
    { namespace: "a", lbSpec: POOL },
    [{ namespace: "b", lbSpec: POOL, createdAt: "2026-01-02", isBegun: true }],
    /"b"/,
  ],
  [
    "an older one that waits, where the own namespace has it",
    { namespace: "a", lbSpec: POOL, createdAt: "2026-01-03" },
    [
      { namespace: "a", name: "first", lbSpec: POOL, isBegun: true },
      { namespace: "b", lbSpec: POOL, createdAt: "2026-01-02" },
    ],
    undefined,
  ],
  [
    "a Service's frontend",
    { namespace: "a", attributes: { frontend: `A${"0".repeat(31)}-subnet`, rules: "80" } },
    [],
    /^attributes\.frontend "A0+-subnet" belongs to a Service: use public, internal/,
  ],
  [
    "the frontend of a Service that shares with others",
    { namespace: "a", attributes: { frontend: FRONTEND, rules: "80" } },
    [],
    /belongs to Service shop\/web: use public, internal, .*, or add "a" to annotation azlb\.io\/share-address-with of that Service$/,
  ],
  [
    "the frontend of a Service that shares with it, whichever others are there",
    { namespace: "b", attributes: { frontend: FRONTEND, rules: "80" } },
    [{ namespace: "b2", attributes: { frontend: FRONTEND, rules: "81" }, synced: { frontend: FRONTEND } }],
    undefined,
  ],
  [
    "a frontend that another has, and shares",
    { namespace: "a", attributes: { frontend: "theirs" } },
    [{ namespace: "b", attributes: {}, synced: { frontend: "theirs" }, shareWith: "a" }],
    undefined,
  ],
  [
    "a frontend that another still has",
    { namespace: "a", attributes: { frontend: "theirs" } },
    [{ namespace: "b", createdAt: "2026-01-02", attributes: {}, synced: { frontend: "Theirs" } }],
    /^attributes\.frontend "theirs" of load balancer "lb" is used by namespace "b"/,
  ],
  [
    "an older one that only asks for the frontend that this one has",
    { namespace: "b", attributes: { frontend: "theirs" }, synced: { frontend: "theirs" }, createdAt: "2026-01-02" },
    [{ namespace: "a", attributes: { frontend: "theirs" } }],
    undefined,
  ],
];

describe("a claim", () => {
  for (const [what, given, others, expected] of conflicts) {
    test(`against ${what}`, () => {
      const own = claim(given);
      const conflict = claimConflict(own, [...others.map(claim), own], serviceOf);
      if (expected === undefined) assert.equal(conflict, undefined);
      else assert.match(conflict ?? "", expected);
    });
  }

  test("that was shared stays behind its holder's, also of the same second and when that shares no longer", () => {
    const held = { namespace: "z", lbSpec: POOL, isBegun: true, lbInfo: { pool: "shared" } };
    const begun = claim({ namespace: "a", lbSpec: POOL, isBegun: true });
    const mark = sharedBy(begun, [begun, claim({ ...held, shareWith: "a" })]);
    assert.deepEqual(mark, { sharedBy: "z/web" });
    const guest = claim({ namespace: "a", lbSpec: POOL, isBegun: true, lbInfo: { pool: "shared", ...mark } });
    const late = claim({ namespace: "a", name: "late", lbSpec: POOL });
    assert.match(claimConflict(late, [guest, late, claim(held)], serviceOf) ?? "", /is used by namespace "z"/);
    assert.equal(claimConflict(claim(held), [guest, claim(held)], serviceOf), undefined);
    assert.equal(claimConflict(late, [guest, late, claim({ ...held, lbSpec: {} })], serviceOf), undefined);
    assert.deepEqual(sharedBy(late, [guest, late]), {});
  });

  test("of a frontend that was shared stays behind its holder's", () => {
    const theirs = { attributes: { frontend: "theirs" }, synced: { frontend: "theirs" } };
    const held = { namespace: "z", ...theirs, lbInfo: { pool: "own" } };
    const asking = claim({ namespace: "a", attributes: { frontend: "theirs" } });
    const mark = sharedBy(asking, [asking, claim({ ...held, shareWith: "a" })]);
    const guest = claim({ namespace: "a", ...theirs, lbInfo: { pool: "own", ...mark } });
    assert.equal(claimConflict(claim(held), [guest, claim(held)], serviceOf), undefined);
    assert.match(claimConflict(guest, [guest, claim(held)], serviceOf) ?? "", /is used by namespace "z"/);
  });

  test("of a derived name comes before any other", () => {
    const own = claim({ namespace: "a", createdAt: "2026-01-09", attributes: { frontend: "internal", rules: "80" } });
    const [pool, frontend] = [own.pool.name, own.frontend?.name ?? assert.fail()];
    const squatter = claim({
      namespace: "b",
      lbSpec: { pool },
      attributes: { frontend, rules: "81" },
      synced: { frontend },
      isBegun: true,
    });
    assert.equal(claimConflict(own, [own, squatter], serviceOf), undefined);
    assert.match(claimConflict(squatter, [own, squatter], serviceOf) ?? "", /lbSpec\.pool/);
    const rider = claim({ namespace: "b", attributes: { frontend, rules: "81" }, synced: { frontend } });
    assert.match(claimConflict(rider, [own, rider], serviceOf) ?? "", /attributes\.frontend/);
  });

  test("gives up a name only with the last use of it", () => {
    const before = claim({ namespace: "a", attributes: { frontend: "x" }, synced: { frontend: "x" } });
    const moving = claim({ namespace: "a", attributes: { frontend: "y" }, synced: { frontend: "x" } });
    const after = claim({ namespace: "a", attributes: { frontend: "y" }, synced: { frontend: "y" } });
    const gone = (from: AzureClaim, to: AzureClaim): string[] =>
      claimedNames(from).filter((name) => !claimedNames(to).includes(name));
    assert.deepEqual(gone(before, moving), []);
    assert.match(gone(moving, after).join(), /frontend x$/);
  });
});

const given: fc.Arbitrary<Given> = fc.record({
  namespace: fc.constantFrom("a", "b", "c"),
  name: fc.constantFrom("one", "two", "three"),
  lbSpec: fc.constantFrom({}, { pool: "p" }, { pool: "P" }, { pool: "q" }),
  attributes: fc.constantFrom({}, { frontend: "f" }, { frontend: "F", rules: "80" }, { rules: "80" }),
  createdAt: fc.constantFrom("2026-01-01", "2026-01-02"),
  isBegun: fc.boolean(),
  shareWith: fc.constantFrom("", "", "a", "b,c"),
});

test("law: of all claims of a pool those of one namespace are allowed, and of those that it consents to, in whatever order they are listed", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(given, { selector: ({ namespace, name }) => `${namespace}/${name}`, maxLength: 6 }),
      fc.nat(),
      (all, turn) => {
        const claims = all.map(claim);
        const turned = [...claims.slice(turn % (claims.length || 1)), ...claims.slice(0, turn % (claims.length || 1))];
        for (const each of claims) {
          const holder = poolHolder(`${each.loadBalancerId}/backendAddressPools/${each.pool.name}`, turned);
          const isRefused = claimConflict(each, turned, serviceOf)?.startsWith("lbSpec.pool") ?? false;
          assert.equal(isRefused, holder?.namespace !== each.namespace && !holder?.sharesWith.includes(each.namespace));
          assert.ok(claims.some(({ namespace }) => namespace === holder?.namespace));
        }
      },
    ),
  );
});
