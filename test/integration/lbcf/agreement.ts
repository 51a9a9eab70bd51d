/**
 * What LBCF's admission refuses is refused when it is applied, and what it accepts is accepted, but for the differences that the
 * documents list: the cases of the definitions and all that differ from an accepted one in a single field, held against a model of
 * LBCF's rules. Nothing of it is stored: a server-side dry run gives the same answer as the real thing.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { after, before, describe, test } from "node:test";

import type { Cluster, ClusterOpener } from "../../support/cluster.ts";
import { lbcfVerdict, type Verdict } from "../../support/lbcf-admission.ts";
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
  /** The field, or what the one that refuses says. */
  readonly said: RegExp;
}

/** The first that fits names the difference. */
const DIFFERENCES: readonly Difference[] = [
  { row: "any text that parses is a `url`", here: "refused", said: /spec\.url/ },
  { row: "any text that parses is a `url`", here: "refused", said: /ensurePolicy\.policy/ },
  { row: "a `webhooks` entry needs a `timeout`", here: "accepted", said: /^timeout must be above/ },
  { row: "`judgePodDeregister` cannot be listed", here: "accepted", said: /judgePodDeregister/ },
  {
    row: "Bind: `deregisterPolicy` is refused when it is valid",
    here: "accepted",
    kind: /Bind/,
    said: /deregisterPolicy/,
  },
  { row: "texts and maps of any length", here: "refused", said: /Too (long|many)|may not be (longer|more)|maxLength/i },
  { row: "Bind: any port but 0", here: "refused", kind: /Bind/, said: /ports\[\d+\]\.port/ },
  { row: "`null` where an object", here: "refused", said: /null/ },
];

const DOCS = readFileSync(resolve(import.meta.dirname, "../../../docs/lbcf.md"), "utf8");
const AT_A_TIME = 16;

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
          const theirs = lbcfVerdict(each.kind, each.spec);
          const here = reply.code === 201 ? "accepted" : "refused";
          if (theirs.kind === "unknown") return count("LBCF's answer is not known");
          if (theirs.kind === here) return count("agreed");
          const known = differenceOf(each, here, theirs, reply.text);
          if (known !== undefined) return count(known.row);
          const why = here === "refused" ? reply.text.slice(0, 400) : theirs.kind === "refused" ? theirs.why : "";
          return unexplained.push(`${each.kind}: ${each.what}: ${here} here: ${why}`);
        });
        const decided = chosen.length - (tally.get("LBCF's answer is not known") ?? 0);
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

function differenceOf(
  each: Case,
  here: "accepted" | "refused",
  theirs: Verdict,
  reply: string,
): Difference | undefined {
  const said = here === "refused" ? reply : theirs.kind === "refused" ? theirs.why : "";
  return DIFFERENCES.find(
    (one) =>
      one.here === here && (one.kind?.test(each.kind) ?? true) && (one.said.test(said) || one.said.test(each.what)),
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
