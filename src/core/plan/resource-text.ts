/**
 * Azure's resources as people call them: what it is and its name. The resource group is told only where it is not the
 * cluster's own (`home`); whoever needs the whole id asks for JSON.
 */
import { parseId } from "../model/ids.ts";

const NOUNS: Readonly<Record<string, string>> = {
  loadbalancers: "load balancer",
  backendaddresspools: "pool",
  publicipaddresses: "public IP",
  networksecuritygroups: "security group",
  networkinterfaces: "network interface",
  virtualmachinescalesets: "scale set",
  virtualmachines: "machine",
};

/** `pool kubernetes of load balancer kubernetes`; of our own paths, `Service default/web`. */
export function resourceText(id: string, home: string): string {
  const parsed = parseId(id);
  if (parsed === undefined) return id.replace(/^services\//, "Service ");
  const types = parsed.type.split("/");
  const parts = parsed.names.map((name, at) => `${nounOf(types[at] ?? "")} ${name}`);
  const isHome = parsed.resourceGroup.toLowerCase() === home.toLowerCase();
  return parts.reverse().join(" of ") + (isHome ? "" : ` in resource group ${parsed.resourceGroup}`);
}

function nounOf(type: string): string {
  return NOUNS[type.toLowerCase()] ?? type;
}

const ID = /\/subscriptions\/[^/"]+\/resourceGroups\/([^/"]+)\/providers\/[^/"]+\/([^"]+)/gi;

/** The ids in a text, without what goes without saying: `loadBalancers/kubernetes/probes/http`. */
export function withShortIds(text: string, home: string): string {
  return text.replaceAll(ID, (_, group: string, path: string) =>
    group.toLowerCase() === home.toLowerCase() ? path : `resourceGroups/${group}/${path}`,
  );
}
