/** A sandbox without a controller and a folder for files, for tests that run commands as people do; both go with the file's tests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

import { SILENT_LOG } from "../../src/core/util/log.ts";
import { startSandbox, type RunningSandbox } from "../../src/main/sandbox.ts";

export interface CommandSandbox {
  readonly dir: string;
  readonly sandbox: RunningSandbox;
}

/** To be awaited at the top of a test file. */
export async function commandSandbox(): Promise<CommandSandbox> {
  const dir = mkdtempSync(join(tmpdir(), "azlb-commands-"));
  const sandbox = await startSandbox({ azure: { topology: { nodes: 1 } }, withController: false, log: SILENT_LOG });
  after(async () => {
    await sandbox.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return { dir, sandbox };
}
