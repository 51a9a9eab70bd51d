/**
 * A fixed set of histories through `sim/`, every bug that it once found, and the simulation itself: the same seed is the
 * same history, planted bugs are caught, and a finding is told so that it can be replayed.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";

import { runCampaign } from "../../sim/campaign/campaign.ts";
import { drawHistory, type History } from "../../sim/campaign/history.ts";
import { PLANTED_BUG_NAMES, type PlantedBugName } from "../../sim/campaign/planted-bugs.ts";
import { detectPlantedBugs } from "../../sim/campaign/detect-planted-bugs.ts";
import { runHistory } from "../../sim/campaign/run-history.ts";
import { runAzlb } from "../support/azlb-process.ts";
import { campaign } from "../support/campaign.ts";

const REGRESSIONS = resolve(import.meta.dirname, "../../sim/regressions");
/** Once with a drift check, once without. */
const SEEDS = campaign({ sample: 2, long: 150, ci: 20 });
const SEEDS_PER_TEST = Math.min(SEEDS, 10);

describe("laws hold", () => {
  for (let firstSeed = 1; firstSeed <= SEEDS; firstSeed += SEEDS_PER_TEST) {
    test(`in histories ${firstSeed} to ${firstSeed + SEEDS_PER_TEST - 1}`, async () => {
      const { findings } = await runCampaign({ firstSeed, seeds: SEEDS_PER_TEST, mostFindings: 1 });
      assert.deepEqual(findings, []);
    });
  }

  for (let firstSeed = 1; firstSeed <= SEEDS; firstSeed += SEEDS_PER_TEST) {
    test(`without a drift check, in histories ${firstSeed} to ${firstSeed + SEEDS_PER_TEST - 1}`, async () => {
      const options = { firstSeed, seeds: SEEDS_PER_TEST, mostFindings: 1, isWithoutDriftCheck: true };
      assert.deepEqual((await runCampaign(options)).findings, []);
    });
  }

  for (const file of readdirSync(REGRESSIONS)) {
    test(`where they once did not: ${file.replace(".json", "").replaceAll("-", " ")}`, async () => {
      const history = JSON.parse(readFileSync(join(REGRESSIONS, file), "utf8")) as History;
      assert.deepEqual((await runHistory(history)).violations, []);
    });
  }
});

describe("a seed", () => {
  test("is always the same history, to the last byte on the wire", async () => {
    const [one, again, other] = [await played(7), await played(7), await played(8)];
    assert.equal(again.digest, one.digest);
    assert.notEqual(other.digest, one.digest);
  });

  function played(seed: number) {
    return runHistory(drawHistory(seed, 60));
  }
});

/** Where each planted bug was caught first (`azlb simulate --planted`); what we change elsewhere may move that a little. */
const CAUGHT_AT: Readonly<Record<PlantedBugName, number>> = {
  "skip-etag": 1,
  "no-finalizer": 1,
  "early-finalizer": 1,
  "failed-list-is-empty": 7,
  "first-node-only": 1,
  "deaf-to-deletions": 12,
  "deaf-to-endpoints": 20_001,
  "drop-unknown-fields": 16,
  "release-ip-first": 1,
  "ignore-lease": 19,
  "forget-admin-state": 6,
  "own-whole-pool": 1,
  "forget-members": 1,
  "stale-listing": 21,
  "silent-retry": 3,
  "drop-foreign-access": 1,
};
const MOST_HISTORIES = 60;

/** In `npm test` those that a history or two catches: one of ETags, finalizers, reads, rules, addresses, the lease and pools each. */
const SAMPLE: readonly PlantedBugName[] = [
  "skip-etag",
  "early-finalizer",
  "stale-listing",
  "drop-foreign-access",
  "release-ip-first",
  "ignore-lease",
  "own-whole-pool",
];

describe("a planted bug is caught:", () => {
  for (const bug of campaign({ sample: SAMPLE, long: PLANTED_BUG_NAMES })) {
    test(bug, async () => {
      const [caught] = await detectPlantedBugs({ bug, firstSeed: CAUGHT_AT[bug], seeds: MOST_HISTORIES });
      assert.notEqual(caught?.law, undefined);
    });
  }
});

describe("azlb simulate", () => {
  test("tells a finding with its law, its shortened history and the command that replays it", async () => {
    const found = await runAzlb("simulate", "--seed", "1", "--plant", "own-whole-pool");
    assert.equal(found.code, 1);
    assert.match(found.stdout, /seed 1 breaks the law "foreign"/);
    assert.match(found.stdout, /shortened to \d{1,2} actions/);
    const command = /replay it: {2}bin\/azlb (.*)/.exec(found.stdout)?.[1] ?? assert.fail(found.stdout);
    const replayed = await runAzlb(...command.split(" "));
    assert.equal(replayed.code, 1);
    assert.match(replayed.stdout, /breaks the law "foreign"/);
  });

  test("prints one JSON object", async () => {
    const { code, stdout } = await runAzlb("simulate", "--seeds", "2", "--seed", "3", "--length", "20", "--json");
    const { histories, actions, violations, seconds } = JSON.parse(stdout) as Record<string, unknown>;
    assert.deepEqual({ code, histories, actions, violations }, { code: 0, histories: 2, actions: 40, violations: [] });
    assert.equal(typeof seconds, "number");
  });

  test("plays the same on several processors", async () => {
    const many = ["simulate", "--seeds", "4", "--length", "4", "--json"];
    const [one, two] = [await runAzlb(...many), await runAzlb(...many, "--jobs", "2")];
    const { seconds: _, ...found } = JSON.parse(one.stdout) as Record<string, unknown>;
    const { seconds: __, ...foundByTwo } = JSON.parse(two.stdout) as Record<string, unknown>;
    assert.deepEqual(foundByTwo, found);
    assert.equal(two.code, one.code);
  });

  test("refuses what it cannot use", async () => {
    for (const [args, message] of [
      [["--seeds", "many"], /--seeds is "many"/],
      [["--jobs", "0"], /--jobs is "0"/],
      [["--only", "x"], /--only is "x"/],
      [["--plant", "weeds"], /--plant is "weeds"; it takes skip-etag/],
      [["--history", "/nowhere.json"], /--history \/nowhere\.json cannot be read/],
    ] as const) {
      const { code, stderr } = await runAzlb("simulate", ...args);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
  });

  test("refuses a recorded history with an action that it does not know", async () => {
    const folder = mkdtempSync(join(tmpdir(), "azlb-history-"));
    const file = join(folder, "history.json");
    writeFileSync(file, JSON.stringify({ ...drawHistory(1, 0), actions: [{ do: "dance", thenMs: 0 }] }));
    const { code, stderr } = await runAzlb("simulate", "--history", file);
    rmSync(folder, { recursive: true });
    assert.equal(code, 2);
    assert.match(stderr, /has an unknown kind of action: dance/);
  });
});
