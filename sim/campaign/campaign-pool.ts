/**
 * Runs a campaign on several worker threads. Histories are independent, so an idle worker takes the next batch of seeds;
 * the results are merged in the order of the seeds. What a worker does with its batch is `campaign.ts`.
 */
import { Worker } from "node:worker_threads";

import { MOST_FINDINGS, runCampaign, type CampaignOptions, type CampaignResult } from "./campaign.ts";

/** Seeds per batch: large enough to outweigh the messages, small enough for the workers to finish together. */
const BATCH_SIZE = 10;

export async function runCampaignOnWorkers(workers: number, options: CampaignOptions): Promise<CampaignResult> {
  const count = Math.min(workers, Math.ceil(options.seeds / BATCH_SIZE));
  if (count < 2) return runCampaign(options);
  const { onProgress, ...rest } = options;
  const { firstSeed, seeds, mostFindings = MOST_FINDINGS } = options;
  const results: CampaignResult[] = [];
  let next = firstSeed;
  const takeBatch = (): CampaignOptions | undefined => {
    const left = firstSeed + seeds - next;
    if (left <= 0 || mergeResults(results).findings.length >= mostFindings) return undefined;
    const batch = { ...rest, firstSeed: next, seeds: Math.min(BATCH_SIZE, left) };
    next += batch.seeds;
    return batch;
  };
  const onResult = (result: CampaignResult): void => {
    results.push(result);
    const { histories, findings } = mergeResults(results);
    onProgress?.({ histories, seeds, findings: findings.length });
  };
  await Promise.all(Array.from({ length: count }, () => runWorker(takeBatch, onResult)));
  return mergeResults(results);
}

/** Resolves when no batch is left; rejects if a history cannot be run at all. */
function runWorker(
  takeBatch: () => CampaignOptions | undefined,
  onResult: (result: CampaignResult) => void,
): Promise<void> {
  const worker = new Worker(new URL("campaign-worker.ts", import.meta.url));
  return new Promise((resolve, reject) => {
    const sendBatch = (): void => {
      const batch = takeBatch();
      if (batch === undefined) void worker.terminate();
      else worker.postMessage(batch, []);
    };
    worker.on("message", (result: CampaignResult) => {
      onResult(result);
      sendBatch();
    });
    worker.on("error", reject);
    worker.on("exit", () => resolve());
    sendBatch();
  });
}

function mergeResults(results: readonly CampaignResult[]): CampaignResult {
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
