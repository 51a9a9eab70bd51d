/**
 * What a driver sees from azlb, held against what it saw from LBCF's own controller in the same lives (`test/fixtures/lbcf/life-cycles.json`,
 * recorded with LBCF at a1250cf): the same calls in the same order, with the same fields and values, but for the differences that
 * docs/lbcf.md lists. Each difference is a change of the recording that is made here, beside the words that tell of it there.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";

import type { ClusterOpener } from "../../support/cluster.ts";
import { addPodOfLives, type Exchange, LIFE_CYCLES, type LifeCycle, Stage, STRICT } from "./life-cycles.ts";
import { type RogueDriver, startRogueDriver } from "./rogue-driver.ts";
import { LbcfWorld } from "./world.ts";

type Lives = Readonly<Record<string, readonly Exchange[]>>;
type TextMap = Readonly<Record<string, string>>;

interface Difference {
  /** Words of docs/lbcf.md that tell of it. */
  readonly told: string;
  readonly change: (life: readonly Exchange[]) => readonly Exchange[];
}

const RECORDED = JSON.parse(
  readFileSync(resolve(import.meta.dirname, "../../fixtures/lbcf/life-cycles.json"), "utf8"),
) as Lives;
const DOCS = readFileSync(resolve(import.meta.dirname, "../../../docs/lbcf.md"), "utf8").replaceAll(/\s+/g, " ");

const DIFFERENCES: readonly Difference[] = [
  {
    told: "`parameters` in `generateBackendAddr`",
    change: (life) =>
      each(life, "generateBackendAddr", (body) => {
        const record = recordOf(body);
        const ensured = life.find(([hook, sent]) => hook === "ensureBackend" && recordOf(sent) === record);
        return { ...body, parameters: ensured?.[1]["parameters"] };
      }),
  },
  {
    told: "`oldParameters` beside its `OldParameters`",
    change: (life) =>
      each(life, "validateBackend", (body) =>
        "OldParameters" in body ? { ...body, oldParameters: body["OldParameters"] } : body,
      ),
  },
  {
    told: "The validate hooks are called once for a spec",
    change: (life) =>
      life.filter(([hook, { operation, ...body }]) => {
        if (operation !== "Update") return true;
        const [now, old] =
          hook === "validateBackend" ? ["parameters", "OldParameters"] : ["attributes", "oldAttributes"];
        return !isDeepStrictEqual(body[now] ?? undefined, body[old] ?? undefined);
      }),
  },
  {
    told: "`lbInfo` in `validateBackend` of a Bind is the load balancer's `spec`",
    change: (life) =>
      each(life, "validateBackend", (body) => {
        const { id, made = id } = body["lbInfo"] as TextMap;
        return { ...body, lbInfo: { made } };
      }),
  },
  {
    told: "`ensureLoadBalancer` and `deleteLoadBalancer` of a Bind have the recordID `…(<uid>)`, and no `lbInfo`",
    change: (life) => ["ensureLoadBalancer", "deleteLoadBalancer"].reduce(withLoadBalancers, life),
  },
  {
    told: "attributes are ensured under `Always` only",
    change: (life) => {
      const at = life.findIndex(([hook, { operation }]) => hook === "validateLoadBalancer" && operation === "Update");
      const [, validated] = life[at] ?? [];
      if (validated === undefined || life.some(([hook]) => hook === "ensureLoadBalancer")) return life;
      const [, deleted] = life.find(([hook]) => hook === "deleteLoadBalancer") ?? [];
      const recordID = String(deleted?.["recordID"]).replace("delete", "ensure");
      return life.toSpliced(at + 1, 0, ["ensureLoadBalancer", { ...deleted, recordID }]);
    },
  },
  {
    told: "`judgePodDeregister` is called at every sync",
    change: judgedOnce,
  },
  {
    told: "two records have the same address | it is deregistered with the last of them",
    change: (life) => {
      const seen = new Set<unknown>();
      const isLast = ([hook, body]: Exchange): boolean => {
        const key = JSON.stringify([body["lbInfo"], body["backendAddr"]]);
        const isOne = hook !== "deregisterBackend" || !/, \S+:(80|53)\//.test(recordOf(body)) || !seen.has(key);
        if (hook === "deregisterBackend") seen.add(key);
        return isOne;
      };
      return life.some(([, body]) => recordOf(body).includes(":53/")) ? life.filter(isLast) : life;
    },
  },
];

export function lbcfRecordedExchanges(name: string, open: ClusterOpener): void {
  describe(`what LBCF's driver saw, on ${name}`, { concurrency: false }, () => {
    let world: LbcfWorld;
    let driver: RogueDriver;

    before(async () => {
      const retries = { leastMs: 1_000, stepMs: 1_000, mostMs: 2_000 };
      [world, driver] = await Promise.all([LbcfWorld.open(open, { lbcf: { retries } }), startRogueDriver(STRICT)]);
      await addPodOfLives(world);
      await world.create("LoadBalancerDriver", "wire", { driverType: "Webhook", url: driver.url });
    });
    after(async () => {
      await world?.close();
      await driver?.close();
    });

    for (const life of LIFE_CYCLES) {
      test(life.name, async (context) => {
        const recorded = RECORDED[life.name] ?? [];
        const expected = DIFFERENCES.reduce((so, { change }) => change(so), recorded);
        const stage = new Stage(world, driver);
        await life.live(stage);
        const seen = stage.exchanges();
        assert.deepEqual(comparable(life, seen), comparable(life, expected));
        const same = recorded.filter((one) => seen.some((other) => isDeepStrictEqual(one, other))).length;
        context.diagnostic(`${same} of ${recorded.length} exchanges as recorded, the others by the listed differences`);
      });
    }

    test("each difference is told in docs/lbcf.md, and each makes a difference", () => {
      for (const { told, change } of DIFFERENCES) {
        assert.ok(DOCS.includes(told), told);
        const changed = Object.values(RECORDED).filter((life) => !isDeepStrictEqual(change(life), life));
        assert.ok(changed.length > 0, told);
      }
    });
  });
}

/** Where several backends are on their way, or whichever of two records is the last, only the set of calls is told. */
function comparable({ anyOrder }: LifeCycle, given: readonly Exchange[]): readonly Exchange[] {
  // how often a pod is judged depends on how fast the others are
  const life = judgedOnce(given);
  if (anyOrder !== true) return life;
  const nameless = each(life, "deregisterBackend", (body) => ({ ...body, recordID: recordOf(body).split(":")[0] }));
  return nameless.toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
}

function judgedOnce(life: readonly Exchange[]): readonly Exchange[] {
  const first = life.findIndex(([hook]) => hook === "judgePodDeregister");
  return life.filter(([hook], at) => hook !== "judgePodDeregister" || at === first);
}

function textOf([hook, body]: Exchange): string {
  const keys = Object.keys(body).toSorted((one, other) => (one < other ? -1 : 1));
  return JSON.stringify([hook, keys.map((key) => body[key])]);
}

function each(
  life: readonly Exchange[],
  hook: string,
  change: (body: Exchange[1]) => Exchange[1],
): readonly Exchange[] {
  return life.map(([name, body]) => [name, name === hook ? change(body) : body]);
}

/** Of what kind and name the call's object is. */
function recordOf(body: Exchange[1]): string {
  return /\((.*)\)/.exec(String(body["recordID"]))?.[1] ?? "";
}

/** Names the load balancers that were created, in their order. */
function withLoadBalancers(life: readonly Exchange[], hook: string): readonly Exchange[] {
  const created = life
    .filter(([name]) => name === "createLoadBalancer")
    .map(([, { lbSpec }]) => (lbSpec as TextMap)["id"]);
  let at = 0;
  return each(life, hook, (body) => {
    if (body["lbInfo"] !== null) return body;
    const made = created[at++ % created.length];
    const owner = recordOf(body);
    const id = owner.startsWith("Bind ") ? `${owner}-${made}` : owner;
    return { ...body, lbInfo: { made }, recordID: `${hook}(${id})` };
  });
}
