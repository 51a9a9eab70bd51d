/**
 * The sandbox and the controller as separate processes, so that a benchmark measures the controller and not one shared event
 * loop. `close` ends each process.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import type { SandboxLine } from "../../src/cli/sandbox-line.ts";
import type { Command } from "./shipped-controller.ts";

const AZLB = fileURLToPath(new URL("../../bin/azlb", import.meta.url));
const STOP_WITHIN_MS = 30_000;

export interface SandboxProcess {
  readonly line: SandboxLine;
  close(): Promise<void>;
}

export interface ControllerProcess {
  readonly pid: number;
  /** Rejects when the process ends before it is closed: nothing that a benchmark waits for will come. */
  readonly ended: Promise<never>;
  close(): Promise<void>;
}

/** Resolves when everything that the flags ask for is ready. */
export function startSandboxProcess(flags: readonly string[]): Promise<SandboxProcess> {
  return startPartProcess("sandbox", flags);
}

/**
 * The whole sandbox, or one half of it. It runs at a lower priority than the controller, which is what is measured: in
 * production, Azure and the API server run on machines of their own.
 */
export async function startPartProcess(
  part: "sandbox" | "azure" | "kube",
  flags: readonly string[],
): Promise<SandboxProcess> {
  const child = spawn("nice", ["-n", "5", AZLB, part, "--json", ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([
    once(lines, "line").then(([text]) => JSON.parse(String(text)) as SandboxLine),
    once(child, "exit").then(([code]) => {
      throw new Error(`azlb ${part} ended with ${String(code)} before it was ready`);
    }),
  ]);
  return { line, close: () => endProcess(child) };
}

/** The azlb controller against that sandbox, from the sources or by another command. Its log is discarded unless AZLB_BENCH_LOG is set. */
export function startControllerProcess(
  { line }: { readonly line: Pick<SandboxLine, "kubeconfig" | "cloudConfig"> },
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  command: Command = { file: AZLB, args: [], env: {} },
): ControllerProcess {
  const given = ["--kubeconfig", line.kubeconfig ?? "", "--cloud-config", line.cloudConfig ?? ""];
  const log = process.env["AZLB_BENCH_LOG"] === undefined ? "ignore" : "inherit";
  const child = spawn(
    command.file,
    [
      ...command.args,
      "controller",
      ...given,
      "--leader-elect=false",
      "--health-port=0",
      "--bind-address=127.0.0.1",
      ...flags,
    ],
    { stdio: ["ignore", "ignore", log], env: { ...process.env, ...command.env, ...env } },
  );
  const ended = new Promise<never>((_, reject) => {
    child.once("exit", (code, signal) => reject(new Error(`the controller ended by itself (${signal ?? code})`)));
  });
  ended.catch(() => undefined); // a closed one ends, too
  return { pid: child.pid ?? 0, ended, close: () => endProcess(child) };
}

/** Asks it to end, and ends it when it takes too long. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const patience = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN_MS);
  await exited;
  clearTimeout(patience);
}
