/** Reads what `record-traffic.ts` recorded in a controller process: when each PUT was sent and each answer to a GET arrived. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** `begun`: handed to the connection; `left`: last byte written to the socket; `answered`: last byte read from it. */
export interface TrafficEvent {
  readonly kind: "PUT begun" | "PUT left" | "GET answered";
  readonly path: string;
  /** Wall-clock time. */
  readonly atMs: number;
}

/** Environment variable with the file to record to. */
export const TRAFFIC_FILE = "AZLB_BENCH_TRAFFIC";

const RECORD_TRAFFIC = new URL("record-traffic.ts", import.meta.url).href;

export class Traffic {
  readonly #folder = mkdtempSync(join(tmpdir(), "azlb-bench-"));
  readonly #file = join(this.#folder, "traffic");

  /** Environment of the controller that is to be recorded. */
  get env(): Readonly<Record<string, string>> {
    return { [TRAFFIC_FILE]: this.#file, NODE_OPTIONS: `--import=${RECORD_TRAFFIC}` };
  }

  read(): readonly TrafficEvent[] {
    const lines = readFileSync(this.#file, "utf8").trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as TrafficEvent);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
