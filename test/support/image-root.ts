/**
 * Runs a program out of the file system of its image, which `build/image-tree.ts` assembles, as a container runtime would:
 * that tree alone is visible and read-only, with `/proc`, `/dev` and an own `/tmp`, and the user is the image's. That takes
 * root; without it the program runs as the caller and sees the whole machine, which `isIsolated` tells.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { bundle, type ProgramName } from "../../build/bundle.ts";
import { assembleTree, IMAGE_NODE, IMAGE_USER, imageProgram } from "../../build/image-tree.ts";

/** Binds the tree onto itself read-only, adds what a runtime mounts, and becomes the image's user in it. */
const ENTER = `set -e
mount --bind "$1" "$1"
mount --rbind /dev "$1/dev"
mount -t proc proc "$1/proc"
mount -t tmpfs tmpfs "$1/tmp"
mount -o remount,bind,ro "$1"
user=$2 root=$1
shift 2
exec setpriv --no-new-privs chroot --userspec="$user:$user" --groups="$user" "$root" "$@"`;

export class ImageRoot {
  static readonly isIsolated = process.getuid?.() === 0;
  /** Of the tree, on this machine. */
  readonly folder: string;
  readonly #program: ProgramName;

  private constructor(program: ProgramName, folder: string) {
    this.#program = program;
    this.folder = folder;
  }

  /** Builds the program and assembles the tree. */
  static async open(program: ProgramName): Promise<ImageRoot> {
    const folder = mkdtempSync(join(tmpdir(), "azlb-image-"));
    chmodSync(folder, 0o755);
    const dist = mkdtempSync(join(tmpdir(), "azlb-dist-"));
    await bundle(program, dist);
    assembleTree(program, folder, dist);
    rmSync(dist, { recursive: true, force: true });
    for (const mountPoint of ["dev", "proc"]) mkdirSync(join(folder, mountPoint));
    return new ImageRoot(program, folder);
  }

  /** A file that a pod would have mounted, readable by the image's user alone. */
  mountFile(path: string, text: string): void {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o400 });
    if (ImageRoot.isIsolated) chownSync(file, IMAGE_USER, IMAGE_USER);
  }

  /** As the entry point of the image does, with these flags of Node before the program. */
  run(args: readonly string[], env: Readonly<Record<string, string>>, nodeFlags: readonly string[] = []): ChildProcess {
    const command = [IMAGE_NODE, ...nodeFlags, imageProgram(this.#program), ...args];
    return this.#spawn(command, env);
  }

  /** Any program of Node's, for looking at the tree from inside. */
  evaluate(source: string): ChildProcess {
    return this.#spawn([IMAGE_NODE, "--input-type=module", "--eval", source], {});
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #spawn([program = "", ...args]: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
    const stdio = ["ignore", "pipe", "pipe"] as const;
    if (!ImageRoot.isIsolated) {
      const local = args.map((arg) => (arg.startsWith("/azlb/") ? join(this.folder, arg) : arg));
      return spawn(join(this.folder, program), local, { env, stdio: [...stdio] });
    }
    const entered = ["--mount", "--propagation=private", "sh", "-c", ENTER, "enter", this.folder, String(IMAGE_USER)];
    return spawn("unshare", [...entered, program, ...args], {
      env: { PATH: process.env["PATH"] ?? "", ...env },
      stdio: [...stdio],
    });
  }
}
