/** When the PUTs of a controller process left it, as `note-departures.ts` wrote them down. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Departure {
  readonly path: string;
  /** In the time of the wall. */
  readonly leftMs: number;
}

/** Environment variable: the file that departures are written to. */
export const DEPARTURES_FILE = "AZLB_BENCH_DEPARTURES";

const NOTE_DEPARTURES = new URL("note-departures.ts", import.meta.url).href;

export class Departures {
  readonly #folder = mkdtempSync(join(tmpdir(), "azlb-bench-"));
  readonly #file = join(this.#folder, "departures");

  /** The environment of the controller that is watched. */
  get env(): Readonly<Record<string, string>> {
    return { [DEPARTURES_FILE]: this.#file, NODE_OPTIONS: `--import=${NOTE_DEPARTURES}` };
  }

  read(): readonly Departure[] {
    const lines = readFileSync(this.#file, "utf8").trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as Departure);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
