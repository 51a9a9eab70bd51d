/**
 * OpenTofu and the azurerm provider, built from `test/e2e/go-tofu` and `test/e2e/go-azurerm` into the cache. `tofuPrograms`
 * looks only into the cache; `buildTofu` fills it, which takes about eight minutes on two cores, once per content of go.mod.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

import { type BuildOrder, goBuild } from "./go-build.ts";

interface Source extends BuildOrder {
  /** Folder with the go.mod that pins it. */
  readonly module: string;
}

const E2E = resolve(import.meta.dirname, "../e2e");
const SOURCES: readonly Source[] = [
  { name: "tofu", package: "github.com/opentofu/opentofu/cmd/tofu", module: join(E2E, "go-tofu") },
  {
    name: "terraform-provider-azurerm",
    package: "github.com/hashicorp/terraform-provider-azurerm",
    module: join(E2E, "go-azurerm"),
  },
];
const LINKER_FLAGS = "-s -w";

/** The folder that holds both programs, as `dev_overrides` wants it; undefined where they are not built. */
export function tofuPrograms(): string | undefined {
  const folder = cacheFolder();
  return SOURCES.every(({ name }) => existsSync(join(folder, name))) ? folder : undefined;
}

export async function buildTofu(say: (line: string) => void): Promise<string> {
  const into = cacheFolder();
  for (const source of SOURCES)
    await goBuild({ module: source.module, linkerFlags: LINKER_FLAGS, orders: [source], into, say });
  return into;
}

function cacheFolder(): string {
  const root = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const hash = createHash("sha256").update(`${process.platform} ${process.arch} ${LINKER_FLAGS}`);
  for (const { module } of SOURCES)
    for (const file of ["go.mod", "go.sum"]) hash.update(readFileSync(join(module, file)));
  return join(root, "azlb", "tofu", hash.digest("hex").slice(0, 12));
}
