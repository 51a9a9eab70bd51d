/**
 * A real Prometheus that scrapes one controller every second, with the alert rules that are shipped. So that a test need not wait
 * for minutes, the rules' minutes are seconds: every `5m` in them, windows and `for` alike, is `5s`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { stringify } from "yaml";

import { ALERTS_FILE } from "./alerts.ts";
import { eventually } from "./eventually.ts";

const START_MS = 30_000;

export interface PrometheusAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: "pending" | "firing";
}

export class Prometheus {
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #url: string;

  private constructor(process: ChildProcess, folder: string, url: string) {
    this.#process = process;
    this.#folder = folder;
    this.#url = url;
  }

  static async start(binary: string, metricsUrl: string): Promise<Prometheus> {
    const folder = mkdtempSync(join(tmpdir(), "azlb-prometheus-"));
    const { host, pathname } = new URL(metricsUrl);
    const rules = join(folder, "alerts.yaml");
    writeFileSync(rules, readFileSync(ALERTS_FILE, "utf8").replaceAll(/\b(\d+)m\b/g, "$1s"));
    const scraped = { job_name: "azlb", metrics_path: pathname, static_configs: [{ targets: [host] }] };
    const config = join(folder, "prometheus.yaml");
    const global = { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" };
    writeFileSync(config, stringify({ global, rule_files: [rules], scrape_configs: [scraped] }));
    const flags = [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, "data")}`];
    const child = spawn(binary, [...flags, "--web.listen-address=127.0.0.1:0"], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
    let address = "";
    await eventually(() => {
      address = /"Listening on" address=(\S+)/.exec(log)?.[1] ?? "";
      if (address === "") throw new Error(`Prometheus does not listen: ${log}`);
    }, START_MS);
    return new Prometheus(child, folder, `http://${address}`);
  }

  async alerts(): Promise<readonly PrometheusAlert[]> {
    return (await this.#get<{ alerts: PrometheusAlert[] }>("alerts")).alerts;
  }

  /** By scrape target. */
  async health(): Promise<readonly string[]> {
    const { activeTargets } = await this.#get<{ activeTargets: { health: string }[] }>("targets");
    return activeTargets.map(({ health }) => health);
  }

  /** By rule, once it was evaluated. */
  async rules(): Promise<Readonly<Record<string, string>>> {
    const { groups } = await this.#get<{ groups: { rules: { name: string; health: string }[] }[] }>("rules");
    return Object.fromEntries(groups.flatMap(({ rules }) => rules.map(({ name, health }) => [name, health])));
  }

  async close(): Promise<void> {
    if (this.#process.exitCode === null) {
      const ended = once(this.#process, "exit");
      this.#process.kill("SIGTERM");
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #get<Data>(path: string): Promise<Data> {
    const reply = await fetch(`${this.#url}/api/v1/${path}`);
    if (!reply.ok) throw new Error(`Prometheus: ${path}: ${reply.status} ${await reply.text()}`);
    return ((await reply.json()) as { data: Data }).data;
  }
}
