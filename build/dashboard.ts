/**
 * Makes the files of the page from `src/dashboard`: one script, one style sheet, the page itself and its icon, by name. Used
 * by `npm run build`, and by a sandbox in a checkout, which has them made at its start.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { build, type Metafile } from "esbuild";

const FOLDER = resolve(import.meta.dirname, "../src/dashboard");

export async function buildDashboard(): Promise<Readonly<Record<string, string>>> {
  return (await bundleDashboard()).files;
}

async function bundleDashboard(): Promise<{ files: Readonly<Record<string, string>>; metafile: Metafile }> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: resolve(FOLDER, "../.."),
    entryPoints: [join(FOLDER, "app.tsx"), join(FOLDER, "app.css")],
    outdir: "/",
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
  });
  const made = (end: string): string => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? "";
  const still = (name: string): string => readFileSync(join(FOLDER, name), "utf8");
  const files = {
    "app.js": made(".js"),
    "app.css": made(".css"),
    "index.html": still("index.html"),
    "icon.svg": still("icon.svg"),
  };
  return { files, metafile };
}

/** Into a folder; answers what the page is made of. */
export async function writeDashboard(folder: string): Promise<Metafile> {
  const { files, metafile } = await bundleDashboard();
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return metafile;
}
