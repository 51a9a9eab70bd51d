/**
 * The agent, the controller or both are killed (`SIGKILL`) at each moment between the announcement of an eviction and its end, and
 * started again before the machine goes, after it has gone, or after its Node has gone, too. The node is Down in every pool
 * before its machine goes, or the account says by how much that was missed; it never says that Down was in effect before it was.
 *
 * An eviction of which no agent has lived to tell is in no account: nothing in the cluster knows of it.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { accountOf, noticeLeft } from "../../../src/core/admin-state/drain-account.ts";
import { SILENT_LOG } from "../../../src/core/util/log.ts";
import { isFailure } from "../../../src/kube/client/kube-failure.ts";
import { NODES } from "../../../src/kube/client/resources.ts";
import { withClusterView } from "../../../src/main/cluster-view.ts";
import { explainNode } from "../../../src/main/explain-node.ts";
import { campaign } from "../../support/campaign.ts";
import { eventually } from "../../support/eventually.ts";
import { WITHIN_MS } from "../../support/service-rig.ts";
import { EvictionRig, type Announced, type Part } from "./eviction-rig.ts";
import { arrange, type Moment, MOMENTS, untilReached } from "./kill-moments.ts";

const WHO: readonly (readonly Part[])[] = [["agent"], ["controller"], ["agent", "controller"]];
const RETURNS = ["before the machine goes", "after the machine has gone", "after its Node has gone"] as const;
type Return = (typeof RETURNS)[number];

interface Cell {
  readonly moment: Moment;
  readonly killed: readonly Part[];
  readonly back: Return;
}

const ALL: readonly Cell[] = MOMENTS.flatMap((moment) =>
  WHO.flatMap((killed) =>
    RETURNS.filter((back) => moment.isGone !== true || back !== "before the machine goes").map((back) => ({
      moment,
      killed,
      back,
    })),
  ),
);
/** Four in which the cluster is told: of other moments, victims and returns each. */
const SAMPLE = ALL.filter((_, at) => at % 25 === 19).slice(1);
const CELLS = campaign({ sample: SAMPLE, long: ALL });

describe("killed when", { concurrency: false }, () => {
  let rig: EvictionRig;
  const left: string[] = [];
  before(async () => {
    rig = await EvictionRig.open(CELLS.length + 1); // one stays
    left.push(...rig.cluster.nodes);
  });
  after(() => rig.close());

  for (const cell of CELLS) {
    const { moment, killed, back } = cell;
    test(`${moment.when}: ${killed.join(" and ")}, back ${back}`, async (t) => {
      const node = left.shift() ?? assert.fail();
      try {
        t.diagnostic(await evict(rig, cell, node));
      } catch (error) {
        if (error instanceof Error) error.message += `\nthe controller: ${rig.controller().output.slice(-2_000)}`;
        throw error;
      } finally {
        await rig.release();
        await remove(rig, node);
      }
      await rig.cluster.expect({}, { nodes: left });
    });
  }
});

/** What the account says in the end, for the report. */
async function evict(rig: EvictionRig, cell: Cell, node: string): Promise<string> {
  const { moment, killed, back } = cell;
  const isLate = back !== "before the machine goes";
  const before = await rig.lastRequest();
  rig.startAgent(node, moment.writesTaints === true);
  await arrange(rig, moment, node, killed);
  let announced: Announced | undefined;
  if (moment !== MOMENTS[0]) {
    announced = await rig.announce(node, isLate ? 1 : 600);
    await untilReached(rig, moment, announced);
  }
  let goneMs = moment.isGone === true && announced !== undefined ? await rig.go(announced, isLate) : undefined;
  const killedMs = Date.now();
  for (const part of killed) await rig.kill(part);
  await rig.release();
  announced ??= await rig.announce(node, isLate ? 1 : 600);
  if (!isLate) {
    for (const part of killed) await rig.startAgain(part);
    await eventually(async () => {
      const sinceMs = (await rig.downSinceMs(node, before)) ?? Number.POSITIVE_INFINITY;
      assert.ok(sinceMs <= Date.now(), "not Down yet");
    }, WITHIN_MS);
  }
  const isTold = async (): Promise<boolean> =>
    (await rig.cluster.said(node)).some(({ message }) => message.includes(announced.eventId));
  const hasAgent = !isLate || !killed.includes("agent");
  if (hasAgent && goneMs === undefined)
    await eventually(async () => assert.ok(await isTold(), "not told yet"), WITHIN_MS);
  goneMs ??= await rig.go(announced, isLate);
  const isKnown = await isTold();
  const eviction = { rig, announced, killedMs, goneMs, downMs: () => rig.downSinceMs(node, before) };
  if (back === "after its Node has gone") await remove(rig, node);
  if (isLate && killed.includes("controller")) await rig.startAgain("controller");
  return isKnown ? accounted(cell, eviction) : saidNothing(cell, eviction);
}

/** As the cluster removes the Node of a machine that has gone. */
async function remove(rig: EvictionRig, name: string): Promise<void> {
  await rig.cluster.services.kube.delete(NODES, { name }).catch((error: unknown) => {
    if (!isFailure(error, "notFound")) throw error;
  });
}

interface Eviction {
  readonly rig: EvictionRig;
  readonly announced: Announced;
  readonly killedMs: number;
  readonly goneMs: number;
  readonly downMs: () => Promise<number | undefined>;
}

/** The cluster was not told; then nothing claims that the node was drained in time. */
async function saidNothing({ killed }: Cell, { rig, announced: { node } }: Eviction): Promise<string> {
  assert.ok(killed.includes("agent"), "an agent that lives tells");
  const said = await rig.cluster.said(node);
  assert.deepEqual(
    said.filter(({ reason }) => reason.startsWith("Eviction")),
    [],
  );
  return "the cluster was not told";
}

async function accounted({ back }: Cell, eviction: Eviction): Promise<string> {
  const { rig, announced, killedMs, goneMs, downMs } = eviction;
  const { node } = announced;
  if (back === "after its Node has gone") {
    const downSinceMs = await downMs();
    if (downSinceMs !== undefined && downSinceMs <= goneMs) return "Down before it went";
    const message = await rig.cluster.heard(node, "EvictionDrainedLate");
    assert.match(message, / s after /);
    await countedLate(rig);
    return message;
  }
  await rig.cluster.heard(node, "PreemptScheduled");
  let account: ReturnType<typeof accountOf>;
  await eventually(async () => {
    account = accountOf(await rig.cluster.node(node));
    assert.ok(account?.notice !== undefined, "no account of the eviction");
  }, WITHIN_MS);
  const noted = account ?? assert.fail();
  const downSinceMs = (await downMs()) ?? assert.fail("the account says Down, Azure does not");
  assert.ok(noted.downMs >= downSinceMs, `Down since ${downSinceMs}, noted ${noted.downMs}`);
  assert.equal(await rig.cluster.timesTainted(node), 1);
  const seconds = noticeLeft(noted) ?? assert.fail();
  const isInTime = seconds >= 0;
  if (back === "before the machine goes") assert.ok(isInTime && downSinceMs <= goneMs, `${seconds} s were left`);
  if (downSinceMs > goneMs) assert.ok(!isInTime, "it was Down after its machine had gone");
  if (noted.downMs >= killedMs) {
    await rig.cluster.heard(node, isInTime ? "EvictionDrained" : "EvictionDrainedLate");
    if (!isInTime) await countedLate(rig);
  }
  const { text: explained } = await withClusterView({ ...rig.cluster.services.viewOptions, log: SILENT_LOG }, (view) =>
    explainNode(view, node),
  );
  assert.match(explained, isInTime ? /in every pool, .* s before it was due/ : /in every pool, .* s too late/);
  return `${seconds.toFixed(1)} s of the notice were left; Down ${((goneMs - downSinceMs) / 1000).toFixed(1)} s before it went`;
}

async function countedLate(rig: EvictionRig): Promise<void> {
  await eventually(async () => {
    const metrics = await (await fetch(`${rig.controller().metricsUrl}/metrics`)).text();
    assert.match(metrics, /loadbalancer_adminstate_evictions_total\{outcome="too_late"\} [1-9]/);
  }, WITHIN_MS);
}
