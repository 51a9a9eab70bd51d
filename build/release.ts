/**
 * `npm run release`: everything of a release into `release/`: the programs, the context that the images are built from, the chart, what is
 * inside (SBOM), checksums, provenance, and the commands that sign. Two runs of one commit with the same Node, npm and helm
 * give the same bytes. It signs nothing, pushes nothing and needs no network. `--allow-changes` for a tree that is not committed.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { helm, helmBinary, NoHelm } from "../test/support/helm.ts";
import { bundle, PROGRAMS, type ProgramName } from "./bundle.ts";
import { assembleBase, assembleProgram, librariesOf } from "./image-tree.ts";
import { writeArchive } from "./release-archive.ts";
import { sbomOfProgram, sbomOfRepository, sha256Of } from "./release-sbom.ts";
import { checksumsOf, dockerfileOfContext, provenanceOf, signingText, type Digested } from "./release-texts.ts";

const ROOT = resolve(import.meta.dirname, "..");
const CHECKSUMS = "SHA256SUMS";
const PROVENANCE = "provenance.intoto.json";

const { values } = parseArgs({ options: { "allow-changes": { type: "boolean", default: false } } });
const git = (...args: string[]): string => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();
const changes = git("status", "--porcelain");
if (changes !== "" && !values["allow-changes"]) {
  process.stderr.write(`these changes have no commit, so nobody could repeat the release:\n${changes}\n`);
  process.stderr.write("commit them, or try the release with --allow-changes\n");
  process.exit(2);
}
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
const seconds = Number(git("log", "-1", "--format=%ct"));
const platform = `linux-${{ x64: "amd64" }[process.arch as string] ?? process.arch}`;
const out = join(ROOT, "release");
const context = `azlb-images-${version}-${platform}.tar.gz`;
const chart = `azlb-${version}.tgz`;

rmSync(out, { recursive: true, force: true });
mkdirSync(out);
const work = mkdtempSync(join(out, "work-"));
try {
  await writePrograms();
  const chartTool = await writeChart();
  writeJson(PROVENANCE, await provenance(chartTool));
  writeFileSync(join(out, "SIGNING.txt"), signingText(version, context, chart));
} finally {
  rmSync(work, { recursive: true, force: true });
}
writeFileSync(join(out, CHECKSUMS), checksumsOf(digests()));
for (const name of readdirSync(out).toSorted()) {
  process.stdout.write(`release/${name}: ${Math.ceil(statSync(join(out, name)).size / 1000)} kB\n`);
}

/** Each program with its source map, and the context of the images. */
async function writePrograms(): Promise<void> {
  const whole = sbomOfRepository(ROOT, seconds);
  writeJson("sbom-repository.cdx.json", whole);
  const images = join(work, "images");
  for (const name of Object.keys(PROGRAMS) as ProgramName[]) {
    const packages = await bundle(name);
    writeJson(`sbom-${name}.cdx.json`, sbomOfProgram(name, packages, whole, ROOT));
    cpSync(join(ROOT, "dist", name), join(work, `azlb-${name}`), { recursive: true });
    await writeArchive(join(out, `azlb-${name}-${version}.tar.gz`), work, [`azlb-${name}`], seconds);
    assembleProgram(name, join(images, name));
  }
  assembleBase(join(images, "base"));
  writeFileSync(join(images, "Dockerfile"), dockerfileOfContext(readFileSync(join(ROOT, "Dockerfile"), "utf8")));
  await writeArchive(join(out, context), images, readdirSync(images).toSorted(), seconds);
}

/** As helm packs it, but for the times that helm gives its entries. Without helm: the chart's folder, unchecked. Returns which. */
async function writeChart(): Promise<string> {
  const unpacked = join(work, "chart");
  mkdirSync(unpacked);
  let tool: string;
  try {
    await helm("package", join(ROOT, "deploy/chart"), "--destination", work);
    execFileSync("tar", ["--extract", "--touch", "--file", join(work, chart), "--directory", unpacked]);
    tool = (await helm("version", "--short")).trim();
  } catch (error) {
    if (!(error instanceof NoHelm)) throw error;
    process.stderr.write(`${error.message}; the chart is packed as it is, and nothing has checked it\n`);
    cpSync(join(ROOT, "deploy/chart"), join(unpacked, "azlb"), { recursive: true });
    tool = "none: the chart's folder as it is";
  }
  await writeArchive(join(out, chart), unpacked, ["azlb"], seconds);
  return tool;
}

async function provenance(chartTool: string): Promise<object> {
  const npm = execFileSync("npm", ["--version"], { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const runtime = [process.execPath, ...librariesOf(process.execPath)];
  const inputs = [
    ...[join(ROOT, "package-lock.json"), ...runtime].map((file) => ({
      name: basename(file),
      file: realpathSync(file),
    })),
    ...(chartTool.startsWith("none") ? [] : [{ name: "helm", file: await helmBinary(() => {}) }]),
  ];
  return provenanceOf(digests(), {
    version,
    commit: git("rev-parse", "HEAD"),
    isDirty: changes !== "",
    platform,
    inputs: inputs.map(({ name, file }) => ({ name, sha256: sha256Of(file) })),
    tools: { node: process.versions.node, npm: npm.trim(), helm: chartTool },
  });
}

function digests(): Digested[] {
  const names = readdirSync(out, { withFileTypes: true }).filter((entry) => entry.isFile());
  return names
    .map(({ name }) => name)
    .toSorted()
    .map((name) => ({ name, sha256: sha256Of(join(out, name)) }));
}

function writeJson(name: string, value: object): void {
  writeFileSync(join(out, name), `${JSON.stringify(value, null, 2)}\n`);
}
