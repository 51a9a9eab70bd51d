/**
 * A server program under a test: its output is kept for the error message, it dies with the test process
 * however that ends, and it is stopped politely first.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export interface ServerProcess {
  readonly pid: number;
  /** The last lines that it wrote. */
  output(): string;
  /** Whether it ended by itself (or was stopped). */
  ended(): boolean;
  stop(): Promise<void>;
}

/** The watcher sees our end of the pipe close, even when we are killed outright, and ends the server. */
const TETHER = 'exec 3<&0; (cat <&3; kill -9 $$) >/dev/null 2>&1 & exec "$@" </dev/null 3<&-';
const OUTPUT_CHARACTERS = 8000;

export function startServer(program: string, args: readonly string[], patienceMs = 10_000): ServerProcess {
  const child = spawn("sh", ["-c", TETHER, "sh", program, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => undefined); // it may be gone already
  let output = "";
  const keep = (text: string): void => void (output = (output + text).slice(-OUTPUT_CHARACTERS));
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  child.on("error", (error) => keep(`${program}: ${error.message}`));
  return {
    pid: child.pid ?? -1,
    output: () => output,
    ended: () => hasEnded(child),
    stop: () => stop(child, patienceMs),
  };
}

async function stop(child: ChildProcess, patienceMs: number): Promise<void> {
  if (!hasEnded(child)) {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    const impatience = setTimeout(() => child.kill("SIGKILL"), patienceMs);
    await ended;
    clearTimeout(impatience);
  }
  child.stdin?.end();
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}
