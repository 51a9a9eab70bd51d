/**
 * A campaign on several processors: histories are independent, so each hand plays a share of the seeds, and what they
 * find is put together in the order of the seeds. A hand is a thread of `campaign-worker.ts`; whoever is free takes the
 * next share.
 */
import { Worker } from "node:worker_threads";

import { MOST_FINDINGS, runCampaign, type CampaignOptions, type CampaignResult } from "./campaign.ts";

/** Seeds per share: enough to make the way to a hand and back worth it, few enough to end together. */
const SHARE = 10;

export async function runCampaignBy(hands: number, options: CampaignOptions): Promise<CampaignResult> {
  const crew = Math.min(hands, Math.ceil(options.seeds / SHARE));
  if (crew < 2) return runCampaign(options);
  const { onProgress, ...rest } = options;
  const { firstSeed, seeds, mostFindings = MOST_FINDINGS } = options;
  const results: CampaignResult[] = [];
  let next = firstSeed;
  const takeShare = (): CampaignOptions | undefined => {
    const left = firstSeed + seeds - next;
    if (left <= 0 || together(results).findings.length >= mostFindings) return undefined;
    const share = { ...rest, firstSeed: next, seeds: Math.min(SHARE, left) };
    next += share.seeds;
    return share;
  };
  const tell = (result: CampaignResult): void => {
    results.push(result);
    const { histories, findings } = together(results);
    onProgress?.({ histories, seeds, findings: findings.length });
  };
  await Promise.all(Array.from({ length: crew }, () => playShares(takeShare, tell)));
  return together(results);
}

/** Ends when there is no share left; fails where a history cannot be played at all. */
function playShares(
  takeShare: () => CampaignOptions | undefined,
  tell: (result: CampaignResult) => void,
): Promise<void> {
  const hand = new Worker(new URL("campaign-worker.ts", import.meta.url));
  return new Promise((resolve, reject) => {
    const goOn = (): void => {
      const share = takeShare();
      if (share === undefined) void hand.terminate();
      else hand.postMessage(share, []);
    };
    hand.on("message", (result: CampaignResult) => {
      tell(result);
      goOn();
    });
    hand.on("error", reject);
    hand.on("exit", () => resolve());
    goOn();
  });
}

function together(results: readonly CampaignResult[]): CampaignResult {
  const sum = (key: "histories" | "actions" | "steps" | "writes"): number =>
    results.reduce((total, result) => total + result[key], 0);
  return {
    histories: sum("histories"),
    actions: sum("actions"),
    steps: sum("steps"),
    writes: sum("writes"),
    findings: results.flatMap(({ findings }) => findings).sort((one, other) => one.seed - other.seed),
  };
}
