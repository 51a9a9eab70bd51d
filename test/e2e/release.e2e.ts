/**
 * `npm run release`, in two clones of the last commit: both give the same bytes, and what is in them can be used. Neither
 * signing nor a container engine is part of it.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { after, before, suite, test } from "node:test";

import { VERSION } from "../../src/main/version.ts";
import { helm } from "../support/helm.ts";

const ROOT = resolve(import.meta.dirname, "../..");

interface Resource {
  readonly name: string;
  readonly digest: Readonly<Record<string, string>>;
}
interface Statement {
  readonly subject: readonly Resource[];
  readonly predicate: { readonly buildDefinition: { readonly resolvedDependencies: readonly Resource[] } };
}

suite("a release", () => {
  let folder: string;
  let release: string;
  before(() => {
    // on the same file system, so that the packages can be linked
    mkdirSync(join(ROOT, "tmp"), { recursive: true });
    folder = mkdtempSync(join(ROOT, "tmp/release-"));
    release = makeRelease(join(folder, "one"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const run = (command: string, ...args: string[]): string =>
    execFileSync(command, args, { cwd: release, encoding: "utf8" });
  const unpacked = (archive: string): string => {
    const into = mkdtempSync(join(folder, "unpacked-"));
    run("tar", "--extract", "--file", archive, "--directory", into);
    return into;
  };
  const json = (name: string): unknown => JSON.parse(readFileSync(join(release, name), "utf8"));

  test("of one commit is the same bytes, wherever and whenever it is made", () => {
    const other = makeRelease(join(folder, "elsewhere/two"));
    assert.equal(sums(other), sums(release));
  });

  test("has a checksum for every file", () => {
    run("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS");
    const named = [...sums(release).matchAll(/^[\da-f]{64} {2}(.+)$/gm)].map(([, name = ""]) => name);
    assert.deepEqual([...named, "SHA256SUMS"].toSorted(), readdirSync(release).toSorted());
  });

  test("has programs that start", () => {
    for (const name of ["controller", "agent", "cli"]) {
      const program = join(unpacked(`azlb-${name}-${VERSION}.tar.gz`), `azlb-${name}`, `${name}.mjs`);
      assert.equal(run(process.execPath, program, "--version"), `${VERSION}\n`);
    }
  });

  test("has a command that npx runs out of its archive, without a network", () => {
    const path = `${dirname(process.execPath)}:${process.env["PATH"]}`;
    const env = { ...process.env, PATH: path, npm_config_cache: join(folder, "npm"), npm_config_offline: "true" };
    const archive = join(release, `azlb-cli-${VERSION}.tar.gz`);
    const args = ["--yes", `--package=${archive}`, "azlb", "--version"];
    assert.equal(execFileSync("npx", args, { cwd: folder, env, encoding: "utf8" }), `${VERSION}\n`);
  });

  test("has the context of three images, which no build is needed for", () => {
    const [archive = ""] = readdirSync(release).filter((name) => name.startsWith("azlb-images-"));
    const context = unpacked(archive);
    const dockerfile = readFileSync(join(context, "Dockerfile"), "utf8");
    assert.doesNotMatch(dockerfile, /--from=|\bRUN\b|^ARG/m);
    const copied = [...dockerfile.matchAll(/^COPY (\w+) \/$/gm)].map(([, source]) => source);
    assert.deepEqual(copied, ["base", "cli", "base", "agent", "base", "controller"]);
    for (const name of ["controller", "agent", "cli"]) {
      const program = join(context, name, "azlb", `${name}.mjs`);
      assert.equal(run(join(context, "base/usr/bin/node"), program, "--version"), `${VERSION}\n`);
    }
  });

  test("has a chart that helm takes", async () => {
    const chart = join(release, `azlb-${VERSION}.tgz`);
    await helm("lint", "--strict", chart, "--set", "clusterName=prod");
    const flags = ["--namespace", "kube-system", "--set", "clusterName=prod"];
    const ours = await helm("template", "azlb", join(ROOT, "deploy/chart"), ...flags);
    assert.equal(await helm("template", "azlb", chart, ...flags), ours);
  });

  test("says what is inside each program, and no more", () => {
    const { components } = json("sbom-controller.cdx.json") as { components: readonly { name: string }[] };
    const names = components.map(({ name }) => name);
    for (const name of ["undici", "@azure/identity", "preact", "node", "libc.so.6"])
      assert.ok(names.includes(name), name);
    for (const name of ["esbuild", "typescript", "fast-check"]) assert.ok(!names.includes(name), name);
  });

  test("says which commit and which inputs it is made from", () => {
    const { subject, predicate } = json("provenance.intoto.json") as Statement;
    for (const { name, digest } of subject) {
      assert.match(sums(release), new RegExp(`^${digest["sha256"]}  ${name}$`, "m"));
    }
    const [source, ...inputs] = predicate.buildDefinition.resolvedDependencies;
    assert.deepEqual(source, { name: "source", digest: { gitCommit: head() } });
    assert.deepEqual(
      inputs.slice(0, 2).map(({ name }) => name),
      ["package-lock.json", "node"],
    );
  });
});

/** In a new clone, with the packages that are installed here. Returns the release's folder. */
function makeRelease(clone: string): string {
  execFileSync("git", ["clone", "--quiet", ROOT, clone]);
  execFileSync("git", ["checkout", "--quiet", head()], { cwd: clone });
  execFileSync("cp", ["--archive", "--link", join(ROOT, "node_modules"), join(clone, "node_modules")]);
  execFileSync(process.execPath, ["build/release.ts"], { cwd: clone, stdio: ["ignore", "ignore", "inherit"] });
  return join(clone, "release");
}

function head(): string {
  return execFileSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, encoding: "utf8" }).trim();
}

function sums(release: string): string {
  return readFileSync(join(release, "SHA256SUMS"), "utf8");
}
