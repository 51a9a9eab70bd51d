/** The controller as its image starts it: the bundle in `dist` with the flags and the environment that the `Dockerfile` gives it. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { InputError } from "../../src/cli/input-error.ts";

const ROOT = resolve(import.meta.dirname, "../..");

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export function shippedController(): Command {
  const program = join(ROOT, "dist/controller/controller.mjs");
  if (!existsSync(program)) throw new InputError(`${program} is not there: run npm run build first`);
  const stage =
    readFileSync(join(ROOT, "Dockerfile"), "utf8")
      .split(/^FROM /m)
      .at(-1) ?? "";
  const [, ...args] = JSON.parse(/^ENTRYPOINT (\[.*\])$/m.exec(stage)?.[1] ?? "[]") as string[];
  const env = [...stage.matchAll(/^ENV (\w+)=(\S+)$/gm)].map(([, name = "", value = ""]) => [name, value]);
  return { file: process.execPath, args: [...args.slice(0, -1), program], env: Object.fromEntries(env) };
}
