/**
 * What is inside, as CycloneDX: npm lists what the repository has installed (`npm sbom`), and this file takes from it what a program
 * really has in its bundle, which is less than its dependencies and has parts of development dependencies (the page's library). Node and
 * the libraries of the image are added with their digests. npm's time and serial number are replaced: they would differ
 * from run to run.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";

import { librariesOf } from "./image-tree.ts";

interface Component {
  readonly "bom-ref": string;
  readonly [key: string]: unknown;
}

export interface Sbom {
  readonly metadata: Readonly<Record<string, unknown>> & { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
  readonly [key: string]: unknown;
}

/** Of all that is installed in `root`, development included. `seconds`: the time that it bears. */
export function sbomOfRepository(root: string, seconds: number): Sbom {
  const printed = execFileSync("npm", ["sbom", "--sbom-format=cyclonedx"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 << 20,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const sbom = JSON.parse(printed) as Sbom;
  const { name } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { name: string };
  // npm names the root after its folder
  const component = { ...sbom.metadata.component, name };
  return numbered({
    ...sbom,
    metadata: { ...sbom.metadata, timestamp: new Date(seconds * 1000).toISOString(), component },
  });
}

/** Of one program and its image. `packages`: folders of the packages in its bundle, relative to `root`. */
export function sbomOfProgram(program: string, packages: readonly string[], whole: Sbom, root: string): Sbom {
  const { component } = whole.metadata;
  const refs = new Set(packages.map((folder) => refOf(join(root, folder))));
  const unknown = [...refs].filter((ref) => !whole.components.some((one) => one["bom-ref"] === ref));
  if (unknown.length > 0) throw new Error(`npm sbom does not list ${unknown.join(", ")}, which ${program} has in it`);
  const self = {
    ...component,
    "bom-ref": `azlb-${program}@${String(component["version"])}`,
    type: "application",
    name: `azlb-${program}`,
  };
  const runtime = componentsOfRuntime();
  return numbered({
    ...whole,
    metadata: { ...whole.metadata, component: self },
    components: [...whole.components.filter((one) => refs.has(one["bom-ref"])), ...runtime],
    dependencies: [
      { ref: self["bom-ref"], dependsOn: [...refs, ...runtime.map((one) => one["bom-ref"])] },
      ...whole.dependencies
        .filter(({ ref }) => refs.has(ref))
        .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) })),
    ],
  });
}

export function sha256Of(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

function componentsOfRuntime(): Component[] {
  const files = [
    { file: process.execPath, type: "platform", name: "node", version: process.versions.node },
    ...librariesOf(process.execPath).map((file) => ({ file, type: "file", name: basename(file) })),
  ];
  return files.map(({ file, ...said }) => {
    const content = sha256Of(realpathSync(file));
    return { ...said, "bom-ref": `${said.name}@${content.slice(0, 12)}`, hashes: [{ alg: "SHA-256", content }] };
  });
}

function refOf(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, string>;
  return `${name}@${version}`;
}

/** A serial number that follows from the content: of the form of a UUID, version 8 (free use). */
function numbered(sbom: Sbom): Sbom {
  const hex = createHash("sha256")
    .update(JSON.stringify({ ...sbom, serialNumber: "" }))
    .digest("hex");
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return { ...sbom, serialNumber: `urn:uuid:${parts.join("-")}` };
}
