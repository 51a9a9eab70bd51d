/**
 * `node build/image-tree.ts PROGRAM FOLDER`: the whole file system of an image, which the Dockerfile copies onto nothing and a
 * test runs: Node and the libraries that it is linked with, the built program, and the three files of `/etc` that name
 * resolution reads. There is no shell, no package manager and nothing that the program does not use.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { PROGRAMS, type ProgramName, bundleOf } from "./bundle.ts";

/** The user of the image has no other rights than to read. */
export const IMAGE_USER = 65_532;
/** Where Node is in every image. */
export const IMAGE_NODE = "/usr/bin/node";

const ETC = {
  passwd: `azlb:x:${IMAGE_USER}:${IMAGE_USER}:azlb:/:/none\n`,
  group: `azlb:x:${IMAGE_USER}:\n`,
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
};

/** The program's file in the image. */
export function imageProgram(name: ProgramName): string {
  return `/azlb/${name}.mjs`;
}

export function assembleTree(name: ProgramName, folder: string, dist?: string): void {
  assembleProgram(name, folder, dist);
  assembleBase(folder);
}

/** What all images have in common. */
export function assembleBase(folder: string): void {
  const node = process.execPath;
  for (const [file, text] of Object.entries(ETC)) write(join(folder, "etc", file), text);
  copy(node, join(folder, IMAGE_NODE), 0o755);
  for (const library of librariesOf(node)) copy(realpathSync(library), join(folder, library), 0o755);
  mkdirSync(join(folder, "tmp"), { recursive: true });
  chmodSync(join(folder, "tmp"), 0o1777);
}

export function assembleProgram(name: ProgramName, folder: string, dist?: string): void {
  const bundle = bundleOf(name, dist);
  if (!existsSync(bundle)) throw new Error(`${bundle} is missing: run npm run build first`);
  const from = dirname(bundle);
  for (const entry of readdirSync(from)) {
    // the map is for the release's archive: no program of the image reads it
    if (!entry.endsWith(".map")) cpSync(join(from, entry), join(folder, "azlb", entry), { recursive: true });
  }
}

/** As the loader finds them: `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)`, or the loader's own path alone. */
export function librariesOf(program: string): readonly string[] {
  const listed = execFileSync("ldd", [program], { encoding: "utf8" });
  const missing = /^\s*(\S+) => not found/m.exec(listed);
  if (missing !== null) throw new Error(`${program} needs ${missing[1]}, which is not installed`);
  return [...listed.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path = ""]) => path);
}

function copy(from: string, to: string, mode: number): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { dereference: true });
  chmodSync(to, mode);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

if (import.meta.main) {
  const [name = "", folder] = process.argv.slice(2);
  if (!Object.hasOwn(PROGRAMS, name) || folder === undefined) {
    const programs = Object.keys(PROGRAMS).join(" or ");
    process.stderr.write(`usage: ${basename(process.argv[1] ?? "")} PROGRAM FOLDER; PROGRAM is ${programs}\n`);
    process.exitCode = 2;
  } else {
    assembleTree(name as ProgramName, folder);
  }
}
