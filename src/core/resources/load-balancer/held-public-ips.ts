/**
 * Which public IPs a load balancer's frontends hold. A write to the load balancer changes its public IPs too (their
 * `ipConfiguration`, and an ETag that only a read tells), so a cache of both, or a prediction, must follow.
 */
import type { LoadBalancer, PublicIP } from "../../model/arm.ts";
import { sameId } from "../../model/ids.ts";

/** What a public IP looks like once the load balancer `id` is as `now` says; itself where that changes nothing. */
export function heldPublicIPs(id: string, now: LoadBalancer | undefined): (publicIP: PublicIP) => PublicIP {
  const holders = new Map(
    (now?.properties.frontendIPConfigurations ?? []).flatMap((frontend) => {
      const held = frontend.properties.publicIPAddress?.id;
      return held === undefined || frontend.id === undefined ? [] : [[held.toLowerCase(), frontend.id] as const];
    }),
  );
  const own = `${id}/frontendIPConfigurations/`.toLowerCase();
  return (publicIP) => {
    const heldBy = publicIP.properties.ipConfiguration?.id;
    const holder = holders.get(publicIP.id.toLowerCase());
    if (holder !== undefined) return sameId(heldBy, holder) ? publicIP : attached(publicIP, holder);
    return heldBy?.toLowerCase().startsWith(own) ? attached(publicIP, undefined) : publicIP;
  };
}

function attached(publicIP: PublicIP, frontend: string | undefined): PublicIP {
  const { ipConfiguration: _, ...rest } = publicIP.properties;
  return { ...publicIP, properties: frontend === undefined ? rest : { ...rest, ipConfiguration: { id: frontend } } };
}
