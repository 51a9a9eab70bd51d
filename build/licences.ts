/** The packages that are part of a bundle, and their licences as one text. A licence that we may not ship fails the build. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Metafile } from "esbuild";

/** As SPDX names them: all allow redistribution in a binary as long as the text goes with it. */
const ALLOWED = new Set(["MIT", "ISC", "Apache-2.0", "0BSD", "BSD-2-Clause", "BSD-3-Clause"]);

/** Folders of the packages that the bundles have code of, relative to the repository. */
export function packagesOf(metafiles: readonly Metafile[]): readonly string[] {
  const used = metafiles
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
    );
  const folders = used.flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)].toSorted();
}

export function renderLicences(packages: readonly string[], root: string): string {
  return packages.map((folder) => renderLicence(join(root, folder))).join(`\n${"=".repeat(80)}\n\n`);
}

function renderLicence(folder: string): string {
  const described = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, unknown>;
  const { name, version, license } = described as { name: string; version: string; license?: string };
  if (license === undefined || !ALLOWED.has(license)) {
    throw new Error(`${name} ${version} has the licence ${license}; allowed are ${[...ALLOWED].join(", ")}`);
  }
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  const texts = files.toSorted().map((file) => readFileSync(join(folder, file), "utf8").trim());
  return [`${name} ${version} (${license})`, "", ...(texts.length > 0 ? texts : [`License: ${license}`]), ""].join(
    "\n",
  );
}
