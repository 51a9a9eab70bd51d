/**
 * `npm run build`: each shipped program as one JavaScript file, in `dist/<program>` with the files that it reads at run time,
 * the licences of the packages inside it and its source map. What the images hold besides is `image-tree.ts`'s business.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { build, type Metafile } from "esbuild";

import { packagesOf, renderLicences } from "./licences.ts";

const ROOT = resolve(import.meta.dirname, "..");
const DIST = join(ROOT, "dist");

interface Program {
  readonly entry: string;
  /** Of the repository, at the same place beside the program. */
  readonly files: readonly string[];
  /** Folders of the repository that must not be part of it. */
  readonly without: readonly string[];
}

export const PROGRAMS = {
  controller: {
    entry: "src/main/azlb-controller.ts",
    files: [],
    without: ["sandbox", "bench", "sim", "test", "src/cli/sandbox.ts"],
  },
  agent: {
    entry: "src/main/azlb-agent.ts",
    files: [],
    without: ["sandbox", "bench", "sim", "test", "src/controller", "src/azure", "src/cli/controller.ts"],
  },
  cli: {
    entry: "src/main/azlb-cli.ts",
    files: ["deploy/crds", "examples/basic.yaml"],
    without: ["bench", "sim", "test"],
  },
} as const satisfies Record<string, Program>;

export type ProgramName = keyof typeof PROGRAMS;

/** CommonJS packages ask for Node's own modules with `require`, which a module has to make itself. */
const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/** The file of a program, once it is built. */
export function bundleOf(name: ProgramName): string {
  return join(DIST, name, `${name}.mjs`);
}

export async function bundle(name: ProgramName): Promise<void> {
  const { entry, files, without }: Program = PROGRAMS[name];
  const folder = join(DIST, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outfile: bundleOf(name),
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    banner: { js: REQUIRE },
    // names stay: they are in stack traces, and Node reads no source map unless it is told to
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: "linked",
    sourcesContent: false,
    legalComments: "none", // the licences are in a file of their own
    metafile: true,
    logLevel: "warning",
  });
  refuseForeignParts(name, metafile, without);
  for (const file of files) cpSync(join(ROOT, file), join(folder, file), { recursive: true });
  cpSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  writeFileSync(join(folder, "LICENSES-THIRD-PARTY.txt"), renderLicences(packagesOf(metafile), ROOT));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(descriptionOf(name), null, 2)}\n`);
}

/** Marks the folder where the program finds its files (`src/main/shipped-files.ts`). */
function descriptionOf(name: ProgramName): object {
  const { version, license } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<string, string>;
  return { name: `azlb-${name}`, version, license, type: "module", private: true };
}

function refuseForeignParts(name: ProgramName, { inputs }: Metafile, without: readonly string[]): void {
  const foreign = Object.keys(inputs).filter((file) =>
    without.some((part) => file === part || file.startsWith(`${part}/`)),
  );
  if (foreign.length > 0) throw new Error(`the program ${name} must not have in it: ${foreign.join(", ")}`);
}

if (import.meta.main) {
  for (const name of Object.keys(PROGRAMS) as ProgramName[]) {
    await bundle(name);
    const kilobytes = Math.round(statSync(bundleOf(name)).size / 1000);
    process.stdout.write(`dist/${name}/${name}.mjs: ${kilobytes} kB\n`);
  }
}
