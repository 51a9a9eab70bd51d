/** Plants each known bug and plays histories until a law catches it: the simulation tested by what it finds. */
import type { CampaignOptions } from "./campaign.ts";
import { drawHistory } from "./history.ts";
import { PLANTED_BUG_NAMES, PLANTED_BUGS, type PlantedBugName } from "./planted-bugs.ts";
import { runHistory } from "./run-history.ts";

export interface Caught {
  readonly bug: PlantedBugName;
  readonly does: string;
  /** The law that caught it; `undefined`: none did. */
  readonly law: string | undefined;
  readonly what: string;
  /** The seed that it was caught at. */
  readonly seed: number;
  /** Histories until then, that one included. */
  readonly histories: number;
}

export async function huntPlantedBugs(options: CampaignOptions): Promise<Caught[]> {
  const { bug, seeds, onProgress } = options;
  const caught: Caught[] = [];
  for (const name of bug === undefined ? PLANTED_BUG_NAMES : [bug]) {
    caught.push(await huntOne(name, options));
    onProgress?.({ histories: seeds, seeds, findings: caught.length });
  }
  return caught;
}

async function huntOne(bug: PlantedBugName, { firstSeed, seeds, length }: CampaignOptions): Promise<Caught> {
  const { does } = PLANTED_BUGS[bug];
  for (let histories = 1; histories <= seeds; histories++) {
    const seed = firstSeed + histories - 1;
    const [first] = (await runHistory(drawHistory(seed, length), { bug })).violations;
    if (first !== undefined) return { bug, does, law: first.law, what: first.what, seed, histories };
  }
  return { bug, does, law: undefined, what: "", seed: firstSeed + seeds - 1, histories: seeds };
}

/** A table for people. */
export function renderHunt(caught: readonly Caught[]): string {
  const rows = caught.map(({ bug, does, law, histories }) => [
    bug,
    does,
    law === undefined ? "nobody" : law,
    law === undefined ? `not in ${histories}` : String(histories),
  ]);
  const table = [["planted bug", "the controller …", "caught by", "after histories"], ...rows];
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
