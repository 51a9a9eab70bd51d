/**
 * A fixed place for the kubeconfig and the cloud config of a sandbox that a person starts, so that the exports of yesterday's
 * terminal work today. One sandbox at a time has it, and gives it back when it ends; others use the files of their own
 * temporary folders. Never `~/.kube`.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface SandboxHome {
  readonly kubeconfig: string;
  readonly cloudConfig: string;
  /** Removes the files. */
  release(): void;
}

export interface SandboxFiles {
  readonly kubeconfig: string;
  readonly cloudConfig: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** `undefined`: another sandbox has it, or it cannot be written. */
export function claimSandboxHome(files: SandboxFiles, env: Environment = process.env): SandboxHome | undefined {
  const cache = env["XDG_CACHE_HOME"] || (env["HOME"] && join(env["HOME"], ".cache"));
  if (!cache) return undefined;
  const dir = join(cache, "azlb", "sandbox");
  const owner = join(dir, "owner");
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    if (!claim(owner)) return undefined;
    const home = { kubeconfig: join(dir, "kubeconfig"), cloudConfig: join(dir, "azure.json") };
    copyFileSync(files.kubeconfig, home.kubeconfig);
    copyFileSync(files.cloudConfig, home.cloudConfig);
    const all = [home.kubeconfig, home.cloudConfig, owner];
    return { ...home, release: () => all.forEach((file) => rmSync(file, { force: true })) };
  } catch {
    return undefined;
  }
}

/** By the id of this process; a file that a process left which is gone is taken over. */
function claim(owner: string): boolean {
  try {
    writeFileSync(owner, `${process.pid}\n`, { flag: "wx", mode: 0o600 });
    return true;
  } catch {
    if (isRunning(Number(readFileSync(owner, "utf8")))) return false;
    rmSync(owner, { force: true });
    writeFileSync(owner, `${process.pid}\n`, { flag: "wx", mode: 0o600 });
    return true;
  }
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
