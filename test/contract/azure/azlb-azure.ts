/** `bin/azlb azure` as a process of its own. */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { resolve } from "node:path";
import { after } from "node:test";

const AZLB = resolve(import.meta.dirname, "../../../bin/azlb");
const START_DEADLINE_MS = 60_000;

interface SandboxLine {
  readonly armEndpoint: string;
  readonly azureControlUrl: string;
  readonly cloudConfig: string;
  readonly caFile: string;
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface AzlbProcess {
  readonly child: ChildProcess;
  readonly line: SandboxLine;
  readonly lineText: string;
  /** Sends the signal and waits for the end; resolves with exit code or signal. */
  stop(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

export async function startAzlbAzure(...flags: string[]): Promise<AzlbProcess> {
  return ready(spawn(AZLB, ["azure", "--json", ...flags], { stdio: ["ignore", "pipe", "inherit"] }));
}

/** With a limit on the size of each file, as a full disk has; its complaints are not shown. */
export async function startAzlbAzureWithin(kibibytes: number, ...flags: string[]): Promise<AzlbProcess> {
  const command = `ulimit -f ${kibibytes} && exec "$0" "$@"`;
  const args = ["-c", command, AZLB, "azure", "--json", ...flags];
  return ready(spawn("bash", args, { stdio: ["ignore", "pipe", "ignore"] }));
}

async function ready(child: ChildProcess): Promise<AzlbProcess> {
  after(() => child.kill("SIGKILL")); // where the test gave up before it stopped it
  const ended = endOf(child);
  const lineText = await firstLine(child);
  return {
    child,
    lineText,
    line: JSON.parse(lineText) as SandboxLine,
    stop(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

/** Runs to its end; for what is expected to be refused. */
export async function runAzlb(
  ...args: string[]
): Promise<{ code: number | NodeJS.Signals; stdout: string; stderr: string }> {
  const child = spawn(AZLB, args, { stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
  const code = await endOf(child);
  return { code, ...output };
}

function endOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  return new Promise((done) => child.once("close", (code, signal) => done(code ?? signal ?? -1)));
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error("azlb azure printed nothing")), START_DEADLINE_MS);
    child.once("exit", (code) => fail(new Error(`azlb azure ended with ${code} before it was ready`)));
    if (child.stdout === null) return fail(new Error("no stdout"));
    createInterface({ input: child.stdout }).once("line", (line) => {
      clearTimeout(timer);
      done(line);
    });
  });
}
