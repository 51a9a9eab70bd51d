/**
 * Tests the simulation itself: plants each known bug in the controller and runs histories until a law detects it. The
 * bugs are in `planted-bugs.ts`.
 */
import type { CampaignOptions } from "./campaign.ts";
import { drawHistory } from "./history.ts";
import { PLANTED_BUG_NAMES, PLANTED_BUGS, type PlantedBugName } from "./planted-bugs.ts";
import { runHistory } from "./run-history.ts";

export interface Detection {
  readonly bug: PlantedBugName;
  readonly does: string;
  /** The law that detected it; `undefined`: none did. */
  readonly law: string | undefined;
  readonly what: string;
  /** The last seed that was run: the one that broke the law, where a law was broken. */
  readonly seed: number;
  /** Histories that were run, the last one included. */
  readonly histories: number;
}

export async function detectPlantedBugs(options: CampaignOptions): Promise<Detection[]> {
  const { bug, seeds, onProgress } = options;
  const detections: Detection[] = [];
  for (const name of bug === undefined ? PLANTED_BUG_NAMES : [bug]) {
    detections.push(await detectOne(name, options));
    onProgress?.({ histories: seeds, seeds, findings: detections.length });
  }
  return detections;
}

async function detectOne(bug: PlantedBugName, { firstSeed, seeds, length }: CampaignOptions): Promise<Detection> {
  const { does } = PLANTED_BUGS[bug];
  for (let histories = 1; histories <= seeds; histories++) {
    const seed = firstSeed + histories - 1;
    const [first] = (await runHistory(drawHistory(seed, length), { bug })).violations;
    if (first !== undefined) return { bug, does, law: first.law, what: first.what, seed, histories };
  }
  return { bug, does, law: undefined, what: "", seed: firstSeed + seeds - 1, histories: seeds };
}

/** A table for a terminal. */
export function renderDetections(detections: readonly Detection[]): string {
  const rows = detections.map(({ bug, does, law, histories }) => [
    bug,
    does,
    law ?? "no law",
    law === undefined ? `not in ${histories}` : String(histories),
  ]);
  const table = [["planted bug", "the controller …", "detected by", "after histories"], ...rows];
  const widths = [0, 1, 2, 3].map((at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
  return table
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}
