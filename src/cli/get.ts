/** `azlb get lb|pool|members|nsg|pip [NAME]`: Azure as the controller sees it, as a table. Reads only. */
import { Argument, type Command } from "commander";

import { INVENTORY_TABLES, type InventoryTable } from "../core/inventory/inventory.ts";
import { withCloudConfigFlags } from "./cloud-config-flags.ts";
import { InputError } from "./input-error.ts";
import { type OutputFormat, outputFlag, printAs } from "./output-flag.ts";
import { viewOptions, withViewFlags, type ViewFlags } from "./view-flags.ts";

interface GetFlags extends ViewFlags {
  readonly output?: OutputFormat;
}

const TABLES = Object.keys(INVENTORY_TABLES) as InventoryTable[];

export function registerGet(azlb: Command): void {
  const command = azlb
    .command("get")
    .addArgument(new Argument("<kind>", "what to print").choices(TABLES))
    .argument("[name]", "a name in any column")
    .description(
      "print load balancers, pools, their members, security rules or public IPs as Azure has them, and whose they are",
    )
    .addOption(outputFlag());
  withCloudConfigFlags(withViewFlags(command)).action(run);
}

async function run(table: InventoryTable, name: string | undefined, flags: GetFlags): Promise<void> {
  const [{ withClusterView }, { renderTable }, { commandLog }] = await Promise.all([
    import("../main/cluster-view.ts"),
    import("../core/inventory/render-table.ts"),
    import("../main/stderr-log.ts"),
  ]);
  const options = { ...viewOptions(flags), log: commandLog() };
  const inventory = await withClusterView(options, (view) => view.inventory());
  const { noun, rows: rowsOf } = INVENTORY_TABLES[table];
  const all = rowsOf(inventory);
  const rows = name === undefined ? all : all.filter((row) => Object.values(row).some((cell) => isSame(cell, name)));
  if (name !== undefined && rows.length === 0) throw new InputError(`there is no ${noun} "${name}"`);
  await printAs(flags.output, rows, () => renderTable(rows));
}

/** Azure compares names without case. */
function isSame(cell: string | number, name: string): boolean {
  return String(cell).toLowerCase() === name.toLowerCase();
}
