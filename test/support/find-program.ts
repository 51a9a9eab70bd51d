/** Programs that tests use where they are, and that no one of this repository builds. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

type Program = "promtool" | "prometheus" | "cloud-controller-manager";

/** The path in the variable of its name (`CLOUD_CONTROLLER_MANAGER`), else on PATH; `undefined`: there is none. */
export function findProgram(name: Program): string | undefined {
  const named = process.env[name.toUpperCase().replaceAll("-", "_")];
  const places = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, name));
  return [...(named ? [named] : []), ...places].find((path) => existsSync(path));
}
