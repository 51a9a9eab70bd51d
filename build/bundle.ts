/**
 * `npm run build`: each shipped program as one JavaScript file, in `dist/<program>` with the files that it reads at run time,
 * the licences of the packages inside it and its source map. What only traces need is a second file, which the program loads
 * when they are asked for. What the images hold besides is `image-tree.ts`'s business.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild";

import { writeDashboard } from "./dashboard.ts";
import { packagesOf, renderLicences } from "./licences.ts";
import { inAscii, slimModules, UNUSED_GLOBALS } from "./slim-modules.ts";

const ROOT = resolve(import.meta.dirname, "..");
const DIST = join(ROOT, "dist");

interface Program {
  readonly entry: string;
  /** Of the repository, at the same place beside the program. */
  readonly files: readonly string[];
  /** Folders of the repository that must not be part of it. */
  readonly without: readonly string[];
  /** Serves the page, whose files are then beside it. */
  readonly hasPage?: boolean;
}

export const PROGRAMS = {
  controller: {
    entry: "src/main/azlb-controller.ts",
    files: [],
    hasPage: true,
    without: ["sandbox", "bench", "sim", "test", "src/cli/sandbox.ts"],
  },
  agent: {
    entry: "src/main/azlb-agent.ts",
    files: [],
    without: ["sandbox", "bench", "sim", "test", "src/controller", "src/azure", "src/cli/controller.ts"],
  },
  cli: {
    entry: "src/main/azlb-cli.ts",
    hasPage: true,
    files: ["deploy/crds", "examples/basic.yaml"],
    without: ["bench", "sim", "test"],
  },
} as const satisfies Record<string, Program>;

export type ProgramName = keyof typeof PROGRAMS;

/** CommonJS packages ask for Node's own modules with `require`, which a module has to make itself. */
const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/** Loaded only where traces are asked for: it has the state of no other file of ours. */
const TRACING = "src/main/otlp-tracing.ts";
const TRACING_FILE = "tracing.mjs";

const OPTIONS = {
  absWorkingDir: ROOT,
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
} as const satisfies BuildOptions;

const apart: Plugin = {
  name: "apart",
  setup(building) {
    building.onResolve({ filter: /\/otlp-tracing\.ts$/ }, ({ kind }) => {
      if (kind !== "dynamic-import") throw new Error(`${TRACING} is imported at the start: that costs every process`);
      return { path: `./${TRACING_FILE}`, external: true };
    });
  },
};

/** The file of a program, once it is built. */
export function bundleOf(name: ProgramName, dist = DIST): string {
  return join(dist, name, `${name}.mjs`);
}

/** Returns the folders of the packages in it. `dist`: tests that run beside each other have one each. */
export async function bundle(name: ProgramName, dist = DIST): Promise<readonly string[]> {
  const { entry, files, without, hasPage = false }: Program = PROGRAMS[name];
  const folder = join(dist, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const program = await build({
    ...OPTIONS,
    entryPoints: [entry],
    outfile: bundleOf(name, dist),
    plugins: [apart, slimModules],
    define: UNUSED_GLOBALS,
  });
  const metafiles = [program.metafile];
  if (isImported(program.metafile, TRACING_FILE)) {
    const outfile = join(folder, TRACING_FILE);
    metafiles.push((await build({ ...OPTIONS, entryPoints: [TRACING], outfile })).metafile);
  }
  for (const metafile of metafiles) refuseForeignParts(name, metafile, without);
  writeFileSync(bundleOf(name, dist), inAscii(readFileSync(bundleOf(name, dist), "utf8")));
  for (const file of files) cpSync(join(ROOT, file), join(folder, file), { recursive: true });
  cpSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  const page = hasPage ? [await writeDashboard(join(folder, "dashboard"))] : [];
  const packages = packagesOf([...metafiles, ...page]);
  writeFileSync(join(folder, "LICENSES-THIRD-PARTY.txt"), renderLicences(packages, ROOT));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(descriptionOf(name), null, 2)}\n`);
  return packages;
}

/** Marks the folder where the program finds its files (`src/main/shipped-files.ts`); `npx` runs the command out of its archive. */
function descriptionOf(name: ProgramName): object {
  const { version, license } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<string, string>;
  const command = name === "cli" ? { bin: { azlb: "cli.mjs" }, engines: { node: ">=24" } } : {};
  return { name: `azlb-${name}`, version, license, type: "module", private: true, ...command };
}

function isImported({ outputs }: Metafile, file: string): boolean {
  return Object.values(outputs).some(({ imports }) => imports.some(({ path }) => path === `./${file}`));
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
