/**
 * Builds programs of a Go module into a folder that outlives the checkout: at low priority, each program
 * appears whole or not at all, and of two runs that want the same one builds while the other waits.
 */
import { spawn } from "node:child_process";
import { accessSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export interface BuildOrder {
  /** File name of the program. */
  readonly name: string;
  /** Go package of its `main`. */
  readonly package: string;
}

export interface GoBuild {
  /** Folder of the go.mod that pins everything. */
  readonly module: string;
  readonly linkerFlags: string;
  readonly orders: readonly BuildOrder[];
  readonly into: string;
  readonly say: (line: string) => void;
}

const BUILD_LIMIT_MS = 45 * 60_000;
const MOST_TRIES = 4;
const NETWORK_TROUBLE = /TLS handshake timeout|i\/o timeout|connection (?:reset|refused)|unexpected EOF|50[0-4] /;

export async function goBuild(build: GoBuild): Promise<void> {
  mkdirSync(build.into, { recursive: true });
  const release = await takeLock(join(build.into, "lock"), build.say);
  try {
    for (const order of build.orders) {
      const target = join(build.into, order.name);
      if (!isThere(target)) await compile(build, order, target);
    }
  } finally {
    release();
  }
}

async function compile(build: GoBuild, order: BuildOrder, target: string): Promise<void> {
  build.say(`building ${order.name} (once; a first build takes minutes) ...`);
  const startedMs = Date.now();
  const unfinished = `${target}.${process.pid}`;
  // Debug information is never read: leaving it out saves compile time and cache.
  const flags = ["-p", "2", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false"];
  try {
    const go = ["build", ...flags, "-ldflags", build.linkerFlags, "-o", unfinished, order.package];
    await despiteNetwork(build.say, () => run("nice", ["-n", "10", "go", ...go], build.module));
    renameSync(unfinished, target);
  } finally {
    rmSync(unfinished, { force: true });
  }
  build.say(`built ${order.name} in ${Math.round((Date.now() - startedMs) / 1000)} s`);
}

/** A download that breaks off is tried again: what was fetched and compiled before is in Go's caches. */
async function despiteNetwork(say: (line: string) => void, attempt: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const isNetwork = error instanceof Error && NETWORK_TROUBLE.test(error.message);
      if (!isNetwork || tries === MOST_TRIES) throw error;
      say("a download failed; trying again ...");
      await delay(5_000);
    }
  }
}

function run(program: string, args: readonly string[], cwd: string): Promise<void> {
  const env = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-mod=readonly", GOWORK: "off" };
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "ignore", "pipe"], timeout: BUILD_LIMIT_MS });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint = (complaint + text).slice(-4000)));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${program} ${args.join(" ")} ended with ${code ?? signal}:\n${complaint}`));
    });
  });
}

/** A file with the holder's process id; one whose holder is gone is taken over. */
async function takeLock(path: string, say: (line: string) => void): Promise<() => void> {
  const deadlineMs = Date.now() + BUILD_LIMIT_MS;
  for (let told = false; Date.now() < deadlineMs; await delay(500)) {
    const holder = tryLock(path);
    if (holder === undefined) return () => rmSync(path, { force: true });
    if (Number.isNaN(holder)) continue;
    if (!isAlive(holder)) rmSync(path, { force: true }); // two may take it over at once: work done twice, no harm
    else if (!told) say(`waiting for process ${holder}, which builds the same ...`);
    told = true;
  }
  throw new Error(`${path} stayed locked; remove it if no build runs`);
}

/** Takes the lock and answers nothing, or answers who holds it (NaN: let go just now). */
function tryLock(path: string): number | undefined {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, path); // atomic, and never seen empty
    return undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return readHolder(path);
  } finally {
    rmSync(own);
  }
}

function readHolder(path: string): number {
  try {
    return Number(readFileSync(path, "utf8"));
  } catch {
    return Number.NaN;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function isThere(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}
