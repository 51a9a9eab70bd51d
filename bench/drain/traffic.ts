/** When the PUTs of a controller process left it and the answers to its GETs reached it, as `record-traffic.ts` noted. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** It was handed to the connection; its last byte was given to the socket, or taken from it. */
export interface Passage {
  readonly kind: "PUT begun" | "PUT left" | "GET answered";
  readonly path: string;
  /** In the time of the wall. */
  readonly atMs: number;
}

/** Environment variable: the file that passages are written to. */
export const TRAFFIC_FILE = "AZLB_BENCH_TRAFFIC";

const RECORD_TRAFFIC = new URL("record-traffic.ts", import.meta.url).href;

export class Traffic {
  readonly #folder = mkdtempSync(join(tmpdir(), "azlb-bench-"));
  readonly #file = join(this.#folder, "traffic");

  /** The environment of the controller that is watched. */
  get env(): Readonly<Record<string, string>> {
    return { [TRAFFIC_FILE]: this.#file, NODE_OPTIONS: `--import=${RECORD_TRAFFIC}` };
  }

  read(): readonly Passage[] {
    const lines = readFileSync(this.#file, "utf8").trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as Passage);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
