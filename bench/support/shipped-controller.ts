/** Programs as their images start them: the bundle in `dist` with the flags and the environment that the `Dockerfile` gives it. */
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
  return shipped("controller");
}

export function shippedAgent(): Command {
  return shipped("agent");
}

function shipped(name: "controller" | "agent"): Command {
  const program = join(ROOT, `dist/${name}/${name}.mjs`);
  if (!existsSync(program)) throw new InputError(`${program} is not there: run npm run build first`);
  const stages = readFileSync(join(ROOT, "Dockerfile"), "utf8").split(/^FROM /m);
  const stage = stages.find((lines) => lines.startsWith(`scratch AS ${name}\n`)) ?? "";
  const [, ...args] = JSON.parse(/^ENTRYPOINT (\[.*\])$/m.exec(stage)?.[1] ?? "[]") as string[];
  const env = [...stage.matchAll(/^ENV (\w+)=(\S+)$/gm)].map(([, key = "", value = ""]) => [key, value]);
  return { file: process.execPath, args: [...args.slice(0, -1), program], env: Object.fromEntries(env) };
}
