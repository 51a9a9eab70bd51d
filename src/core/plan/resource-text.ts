/**
 * Azure's resources as people call them: what it is and its name. The resource group is named only where it is not the
 * cluster's own (`home`); the whole id is in the JSON output.
 */
import { parseId } from "../model/ids.ts";
import { nounOf } from "../resources/kinds.ts";

/** `pool kubernetes of load balancer kubernetes`; of our own paths, `Service default/web`. */
export function resourceText(id: string, home: string): string {
  const parsed = parseId(id);
  if (parsed === undefined) return id.replace(/^services\//, "Service ");
  const types = parsed.type.split("/");
  const parts = parsed.names.map(
    (name, at) => `${nounOf(`${parsed.provider}/${types.slice(0, at + 1).join("/")}`)} ${name}`,
  );
  const isHome = parsed.resourceGroup.toLowerCase() === home.toLowerCase();
  return parts.reverse().join(" of ") + (isHome ? "" : ` in resource group ${parsed.resourceGroup}`);
}

const ID = /\/subscriptions\/[^/"]+\/resourceGroups\/([^/"]+)\/providers\/[^/"]+\/([^"]+)/gi;

/** The ids in a text, without what goes without saying: `loadBalancers/kubernetes/probes/http`. */
export function withShortIds(text: string, home: string): string {
  return text.replaceAll(ID, (_, group: string, path: string) =>
    group.toLowerCase() === home.toLowerCase() ? path : `resourceGroups/${group}/${path}`,
  );
}
