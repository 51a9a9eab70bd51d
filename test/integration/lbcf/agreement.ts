/**
 * What LBCF's admission refuses is refused when it is applied, and what it accepts is accepted, but for the differences that the
 * documents list: the cases of the definitions and all that differ from an accepted one in a single field, held against what LBCF's
 * own webhooks said to each of them (`test/fixtures/lbcf/verdicts.json`, recorded with LBCF at a1250cf). Nothing of it is stored: a
 * server-side dry run gives the same answer as the real thing.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { after, before, describe, test } from "node:test";

import type { Cluster, ClusterOpener } from "../../support/cluster.ts";
import { oneFieldMutations } from "../../support/one-field-mutations.ts";
import { BAD, GOOD } from "./definition-cases.ts";
import { installDefinitions, PATHS } from "./definitions.ts";

interface Case {
  readonly kind: string;
  readonly what: string;
  readonly spec: unknown;
}

interface Difference {
  /** The row of docs/lbcf.md that tells of it, by its beginning. */
  readonly row: string;
  readonly here: "accepted" | "refused";
  readonly kind?: RegExp;
  /** The case, or what is said to it here. */
  readonly said: RegExp;
}

/** The first that fits names the difference. */
const DIFFERENCES: readonly Difference[] = [
  { row: "any text that parses is a `url`", here: "refused", said: /spec\.url|ensurePolicy/ },
  { row: "a `webhooks` entry needs a `timeout`", here: "accepted", said: /some timeouts|timeout: (left out|null)/ },
  { row: "`judgePodDeregister` cannot be listed", here: "accepted", said: /lists judgePodDeregister/ },
  {
    row: "Bind: `deregisterPolicy` is refused when it is valid",
    here: "accepted",
    kind: /Bind/,
    said: /^a Bind with a policy/,
  },
  {
    row: "Bind: `deregisterPolicy` is refused when it is valid",
    here: "refused",
    kind: /Bind/,
    said: /spec\.deregisterPolicy/,
  },
  { row: "texts and maps of any length", here: "refused", said: /Too (long|many)|may not be (longer|more)|maxLength/i },
  { row: "Bind: any port but 0", here: "refused", kind: /Bind/, said: /ports\[\d+\]\.port/ },
  { row: "`null` where an object", here: "refused", said: /null/ },
  {
    row: "Bind: an empty `byName` is refused",
    here: "accepted",
    kind: /Bind/,
    said: /byName: \[\]|byName\.0: left out/,
  },
  {
    row: "a port twice, an empty address",
    here: "refused",
    said: /given twice|static\[|service\.name|portNumber|caBundle/,
  },
  { row: "a port twice, an empty address", here: "refused", kind: /Bind/, said: /selector/ },
];

type Verdict = "accepted" | "refused" | "lookup";

/** By the digests of kind and spec. `lookup`: what it names was not there, and that alone was the matter. */
const RECORDED = new Map(
  Object.entries(
    JSON.parse(readFileSync(resolve(import.meta.dirname, "../../fixtures/lbcf/verdicts.json"), "utf8")) as Record<
      Verdict,
      string[]
    >,
  ).flatMap(([verdict, digests]) => digests.map((digest) => [digest, verdict as Verdict])),
);

const DOCS = readFileSync(resolve(import.meta.dirname, "../../../docs/lbcf.md"), "utf8");
const AT_A_TIME = 16;
const BY_LOOKUP = "by what is there";

export function lbcfAgreement(name: string, open: ClusterOpener, every: number): void {
  describe(`what LBCF refuses is refused on ${name}`, () => {
    let cluster: Cluster;
    before(async () => {
      cluster = await open();
      await installDefinitions(cluster);
    });
    after(() => cluster.close());

    const apply = ({ kind, spec }: Case, metadata: object, query: string) => {
      const apiVersion = kind === "Bind" ? "lbcf.tkestack.io/v1" : "lbcf.tkestack.io/v1beta1";
      return cluster.request("POST", `${PATHS[kind]}${query}`, { body: { apiVersion, kind, metadata, spec } });
    };

    const given: readonly Case[] = [...GOOD, ...BAD].map(([kind, what, spec]) => ({ kind, what, spec }));
    const mutations: readonly Case[] = GOOD.flatMap(([kind, what, spec]) =>
      oneFieldMutations(spec).map(({ what: change, value }) => ({ kind, what: `${what}, ${change}`, spec: value })),
    );

    for (const [title, cases, step] of [
      ["the cases", given, 1],
      ["one field changed", mutations, every],
    ] as const) {
      test(`${title}: all but the listed differences agree`, async (context) => {
        const chosen = cases.filter((_, at) => at % step === 0);
        const tally = new Map<string, number>();
        const count = (key: string): unknown => tally.set(key, (tally.get(key) ?? 0) + 1);
        const unexplained: string[] = [];
        await eachOf(chosen, async (each) => {
          const reply = await apply(each, { name: "dry" }, "?dryRun=All");
          assert.ok(reply.code === 201 || reply.code === 422 || reply.code === 400, reply.text);
          const theirs = verdictOf(each);
          const here = reply.code === 201 ? "accepted" : "refused";
          if (theirs === undefined)
            return unexplained.push(`${each.kind}: ${each.what}: LBCF's answer is not recorded`);
          if (theirs === "lookup") return count(BY_LOOKUP);
          if (theirs === here) return count("agreed");
          const known = differenceOf(each, here, reply.text);
          if (known !== undefined) return count(known.row);
          return unexplained.push(`${each.kind}: ${each.what}: ${here} here: ${reply.text.slice(0, 400)}`);
        });
        const decided = chosen.length - (tally.get(BY_LOOKUP) ?? 0);
        context.diagnostic(`${title}: ${tally.get("agreed")} of ${decided} agree; ${JSON.stringify([...tally])}`);
        assert.deepEqual(unexplained, []);
      });
    }

    test("a dry run answers as the real thing does, and stores nothing", async () => {
      for (const [at, each] of given.entries()) {
        const metadata = { name: `case-${at}` };
        const dry = await apply(each, metadata, "?dryRun=All");
        const stored = await cluster.request("GET", `${PATHS[each.kind]}/case-${at}`);
        assert.equal(stored.code, 404, each.what);
        const real = await apply(each, metadata, "");
        assert.deepEqual([dry.code, messageOf(dry.body)], [real.code, messageOf(real.body)], each.what);
      }
    });

    test("each difference has its row in docs/lbcf.md", () => {
      for (const { row } of DIFFERENCES) assert.ok(DOCS.includes(`\n| ${row}`), row);
    });
  });
}

function verdictOf({ kind, spec }: Case): Verdict | undefined {
  return RECORDED.get(
    createHash("md5")
      .update(JSON.stringify([kind, spec]))
      .digest("hex")
      .slice(0, 12),
  );
}

function differenceOf(each: Case, here: "accepted" | "refused", reply: string): Difference | undefined {
  return DIFFERENCES.find(
    (one) =>
      one.here === here &&
      (one.kind?.test(each.kind) ?? true) &&
      ((here === "refused" && one.said.test(reply)) || one.said.test(each.what)),
  );
}

/** Its words in order: a server may name several mistakes in any. */
function messageOf(body: object): readonly string[] {
  return "message" in body
    ? String(body.message)
        .split(/[\s,[\]]+/)
        .toSorted()
    : [];
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
}
