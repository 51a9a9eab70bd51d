/**
 * Where the binaries of a real control plane come from: the first of these that has one.
 *
 *   place                                     | note
 *   ------------------------------------------|-----------------------------------------------------------
 *   TEST_ASSET_ETCD, TEST_ASSET_KUBE_APISERVER | one file each (TEST_ASSET_KUBECTL too)
 *   KUBEBUILDER_ASSETS/<name>                 | one folder for all
 *   PATH                                      | kubectl only, from 1.31 on  
 *   the cache                                 | what an earlier run built
 *   `go build`                                | pinned by test/e2e/go/go.mod; takes minutes, once
 *
 * A place that is named and lacks its file is an error, never passed over. With none of them the answer is
 * `NoControlPlane`, and the caller decides what that means. How the binaries are run is control-plane.ts.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";

import { type BuildOrder, goBuild } from "./go-build.ts";

type BinaryName = "etcd" | "kube-apiserver" | "kubectl";
export type ControlPlaneBinaries = Readonly<Record<BinaryName, string>>;

/** Neither binaries nor a way to build them: nothing can be said about a real API server on this machine. */
export class NoControlPlane extends Error {}

const MODULE = resolve(import.meta.dirname, "../e2e/go");

const PACKAGES: Readonly<Record<BinaryName, string>> = {
  etcd: "go.etcd.io/etcd/server/v3",
  "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
  kubectl: "k8s.io/kubernetes/cmd/kubectl",
};

/** Finds all three, building what is missing; `say` hears of anything that takes long. */
export async function controlPlaneBinaries(say: (line: string) => void): Promise<ControlPlaneBinaries> {
  const found = { etcd: given("etcd"), "kube-apiserver": given("kube-apiserver"), kubectl: givenKubectl() };
  const cache = cacheFolder();
  const missing: BuildOrder[] = [];
  for (const name of Object.keys(PACKAGES) as BinaryName[]) {
    const cached = join(cache, name);
    if (found[name] === undefined && !isProgram(cached)) missing.push({ name, package: PACKAGES[name] });
    found[name] ??= cached;
  }
  if (missing.length > 0) await build(missing, cache, say);
  return found as ControlPlaneBinaries;
}

async function build(orders: readonly BuildOrder[], into: string, say: (line: string) => void): Promise<void> {
  if (onPath("go") === undefined) {
    throw new NoControlPlane(
      `no ${orders.map((order) => order.name).join(", ")} here: set KUBEBUILDER_ASSETS to a folder that holds them, ` +
        "or install Go so that they can be built",
    );
  }
  await goBuild({ module: MODULE, linkerFlags: versionStamp(), orders, into, say });
}

/** A binary that the environment names. */
function given(name: BinaryName): string | undefined {
  const variable = `TEST_ASSET_${name.toUpperCase().replaceAll("-", "_")}`;
  const file = process.env[variable];
  if (file) return mustBeProgram(file, `${variable}=${file}`);
  const folder = process.env["KUBEBUILDER_ASSETS"];
  if (folder) return mustBeProgram(join(folder, name), `KUBEBUILDER_ASSETS=${folder}`);
  return undefined;
}

function givenKubectl(): string | undefined {
  const folder = process.env["KUBEBUILDER_ASSETS"];
  const named = process.env["TEST_ASSET_KUBECTL"] || (folder && isProgram(join(folder, "kubectl")));
  if (named) return given("kubectl");
  const found = onPath("kubectl");
  return found !== undefined && isRecent(found) ? found : undefined;
}

/** The tour uses what kubectl has had since 1.31. */
function isRecent(kubectl: string): boolean {
  const { stdout } = spawnSync(kubectl, ["version", "--client", "-o", "json"], { encoding: "utf8", timeout: 30_000 });
  const minor = /"minor": *"(\d+)/.exec(stdout)?.[1];
  return Number(minor) >= 31;
}

function mustBeProgram(file: string, setting: string): string {
  if (isProgram(file)) return file;
  throw new Error(`${setting}: there is no program ${file}; point it at one or unset it`);
}

function onPath(program: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  return folders.map((folder) => join(folder, program)).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** One folder per pinned content, so that a change of go.mod builds anew and an old checkout finds its own. */
function cacheFolder(): string {
  const root = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const hash = createHash("sha256").update(`${process.platform} ${process.arch} ${versionStamp()}`);
  for (const file of ["go.mod", "go.sum"]) hash.update(readFileSync(join(MODULE, file)));
  return join(root, "azlb", "control-plane", `${kubernetesVersion()}-${hash.digest("hex").slice(0, 12)}`, "bin");
}

/** The version in go.mod, as /version must say it: an unstamped server calls itself v0.0.0. */
function versionStamp(): string {
  const version = kubernetesVersion();
  const [major, minor] = version.slice(1).split(".");
  const stamp = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  const settings = Object.entries(stamp).map(([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`);
  return ["-s", "-w", ...settings].join(" ");
}

function kubernetesVersion(): string {
  const version = /^\s*k8s\.io\/kubernetes (v\S+)/m.exec(readFileSync(join(MODULE, "go.mod"), "utf8"))?.[1];
  if (version === undefined) throw new Error(`${MODULE}/go.mod names no version of k8s.io/kubernetes`);
  return version;
}
