/** `azlb reach service/NAME --from ADDRESS`: would a packet get there, and what decides it. Reads only. */
import type { Command } from "commander";

import { type Address, parseAddress } from "../core/util/cidr.ts";
import { withCloudConfigFlags } from "./cloud-config-flags.ts";
import { namespaceFlag, namespaceOf } from "./cluster-flags.ts";
import { InputError } from "./input-error.ts";
import { type OutputFormat, outputFlag, printAs } from "./output-flag.ts";
import { parseServiceArgument } from "./service-argument.ts";
import { viewOptions, withViewFlags, type ViewFlags } from "./view-flags.ts";

interface ReachFlags extends ViewFlags {
  readonly from: string;
  readonly port?: string;
  readonly namespace?: string;
  readonly output?: OutputFormat;
}

export function registerReach(azlb: Command): void {
  const command = azlb
    .command("reach <service>")
    .description(
      "would a packet from an address get to a Service, and which frontend, rule, security rule or member decides; exit 1 if not. SERVICE: service/NAME",
    )
    .requiredOption("--from <address>", "source of the packet, as Azure sees it")
    .option("--port <port>", "port of the Service, with /UDP where it is not TCP (default: all of its ports)")
    .addOption(namespaceFlag("namespace of the Service"))
    .addOption(outputFlag());
  withCloudConfigFlags(withViewFlags(command)).action(run);
}

async function run(service: string, flags: ReachFlags): Promise<void> {
  const key = parseServiceArgument(service, await namespaceOf(flags));
  const query = { from: parseSource(flags.from), ...parsePort(flags.port) };
  const [{ withClusterView }, { readReach }, { renderReach }, { commandLog }] = await Promise.all([
    import("../main/cluster-view.ts"),
    import("../main/reach-service.ts"),
    import("../core/reach/render-reach.ts"),
    import("../main/stderr-log.ts"),
  ]);
  const options = { ...viewOptions(flags), log: commandLog() };
  const reaches = await withClusterView(options, (view) => readReach(view, key, query));
  await printAs(flags.output, reaches, () => renderReach(reaches));
  if (reaches.some(({ verdict }) => verdict !== "reaches")) process.exitCode = 1;
}

function parseSource(text: string): Address {
  const address = parseAddress(text);
  if (address === undefined) throw new InputError(`--from "${text}" is not an address: use one such as 198.51.100.7`);
  return address;
}

function parsePort(text: string | undefined): { port?: number; protocol?: "TCP" | "UDP" } {
  if (text === undefined) return {};
  const [, digits = "", protocol] = /^(\d{1,5})(?:\/(tcp|udp))?$/i.exec(text) ?? [];
  const port = Number(digits);
  if (digits === "" || port < 1 || port > 65_535) {
    throw new InputError(`--port "${text}" is not a port: use a number from 1 to 65535, or 53/UDP`);
  }
  if (protocol === undefined) return { port };
  return { port, protocol: protocol.toUpperCase() === "UDP" ? "UDP" : "TCP" };
}
