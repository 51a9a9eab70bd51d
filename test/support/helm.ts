/**
 * The real `helm`: the program that `HELM` names, else the cache's, else built from `test/e2e/go-helm` into the cache, where
 * Go is installed. Without any of them the answer is `NoHelm`.
 */
import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

import { goBuild } from "./go-build.ts";

const MODULE = resolve(import.meta.dirname, "../e2e/go-helm");
const PACKAGE = "helm.sh/helm/v3/cmd/helm";
/** What `helm template` renders for, without a cluster. */
const KUBERNETES_MINOR = 34;

export const CHART = resolve(import.meta.dirname, "../../deploy/chart");

/** Neither helm nor a way to build it: nothing can be said about the chart on this machine. */
export class NoHelm extends Error {}

export async function helmBinary(say: (line: string) => void): Promise<string> {
  const given = process.env["HELM"];
  if (given) return given;
  const folder = cacheFolder();
  const cached = join(folder, "helm");
  if (existsSync(cached)) return cached;
  if (spawnSync("go", ["version"]).status !== 0) {
    throw new NoHelm("no helm here: set HELM to a helm 3, or install Go so that it can be built");
  }
  const linkerFlags = linkerFlagsOf();
  await goBuild({ module: MODULE, linkerFlags, orders: [{ name: "helm", package: PACKAGE }], into: folder, say });
  return cached;
}

/** What it prints; throws with what it complains about. */
export async function helm(...args: readonly string[]): Promise<string> {
  const binary = await helmBinary((line) => process.stderr.write(`helm: ${line}\n`));
  const { stdout } = await promisify(execFile)(binary, [...args], { maxBuffer: 64 << 20 });
  return stdout;
}

/** The chart rendered for kube-system, with `values` as `--set` takes them. */
export function renderChart(...values: readonly string[]): Promise<string> {
  const flags = values.flatMap((value) => ["--set", value]);
  return helm("template", "azlb", CHART, "--namespace", "kube-system", ...flags);
}

/** An unstamped helm takes every cluster for 1.20. */
function linkerFlagsOf(): string {
  const stamp = { k8sVersionMajor: "1", k8sVersionMinor: String(KUBERNETES_MINOR) };
  const settings = Object.entries(stamp).flatMap(([key, value]) =>
    ["chartutil", "lint/rules"].map((part) => `-X helm.sh/helm/v3/pkg/${part}.${key}=${value}`),
  );
  return ["-s", "-w", ...settings].join(" ");
}

function cacheFolder(): string {
  const root = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const hash = createHash("sha256").update(`${process.platform} ${process.arch} ${linkerFlagsOf()}`);
  for (const file of ["go.mod", "go.sum"]) hash.update(readFileSync(join(MODULE, file)));
  return join(root, "azlb", "helm", hash.digest("hex").slice(0, 12));
}
