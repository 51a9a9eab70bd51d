/**
 * The real `helm`: the program that `HELM` names, else the cache's, else built from `test/e2e/go-helm` into the cache, where
 * Go is installed. Without any of them the answer is `NoHelm`. Helm 4 is `HELM4` and `test/e2e/go-helm4`.
 */
import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

import { goBuild } from "./go-build.ts";

type Major = 3 | 4;

const MODULES: Readonly<Record<Major, string>> = {
  3: resolve(import.meta.dirname, "../e2e/go-helm"),
  4: resolve(import.meta.dirname, "../e2e/go-helm4"),
};
const VARIABLES: Readonly<Record<Major, string>> = { 3: "HELM", 4: "HELM4" };
/** What `helm template` renders for, without a cluster. */
const KUBERNETES_MINOR = 34;

export const CHART = resolve(import.meta.dirname, "../../deploy/chart");

/** Neither helm nor a way to build it: nothing can be said about the chart on this machine. */
export class NoHelm extends Error {}

export async function helmBinary(say: (line: string) => void, major: Major = 3): Promise<string> {
  const variable = VARIABLES[major];
  const given = process.env[variable];
  if (given) return given;
  const folder = cacheFolder(major);
  const cached = join(folder, "helm");
  if (existsSync(cached)) return cached;
  if (spawnSync("go", ["version"]).status !== 0) {
    throw new NoHelm(`no helm here: set ${variable} to a helm ${major}, or install Go so that it can be built`);
  }
  const orders = [{ name: "helm", package: `helm.sh/helm/v${major}/cmd/helm` }];
  await goBuild({ module: MODULES[major], linkerFlags: linkerFlagsOf(major), orders, into: folder, say });
  return cached;
}

/** What it prints; throws with what it complains about. */
export function helm(...args: readonly string[]): Promise<string> {
  return helmOf(3, ...args);
}

export async function helmOf(major: Major, ...args: readonly string[]): Promise<string> {
  const binary = await helmBinary((line) => process.stderr.write(`helm: ${line}\n`), major);
  const { stdout } = await promisify(execFile)(binary, [...args], { maxBuffer: 64 << 20 });
  return stdout;
}

/** The chart rendered for kube-system, with `values` as `--set` takes them. */
export function renderChart(...values: readonly string[]): Promise<string> {
  const flags = values.flatMap((value) => ["--set", value]);
  return helm("template", "azlb", CHART, "--namespace", "kube-system", ...flags);
}

/** An unstamped helm takes every cluster for 1.20. */
function linkerFlagsOf(major: Major): string {
  if (major === 4) return "-s -w";
  const stamp = { k8sVersionMajor: "1", k8sVersionMinor: String(KUBERNETES_MINOR) };
  const settings = Object.entries(stamp).flatMap(([key, value]) =>
    ["chartutil", "lint/rules"].map((part) => `-X helm.sh/helm/v3/pkg/${part}.${key}=${value}`),
  );
  return ["-s", "-w", ...settings].join(" ");
}

function cacheFolder(major: Major): string {
  const root = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const hash = createHash("sha256").update(`${process.platform} ${process.arch} ${linkerFlagsOf(major)}`);
  for (const file of ["go.mod", "go.sum"]) hash.update(readFileSync(join(MODULES[major], file)));
  return join(root, "azlb", major === 3 ? "helm" : "helm4", hash.digest("hex").slice(0, 12));
}
