/**
 * Azure gives a DNS label to one public IP of a region, and refuses it to others without naming the owner. Where
 * another Service of this cluster has it and still asks for it, the Service is refused before any write, with that
 * name. Any other label is Azure's to refuse.
 */
import type { PublicIP } from "../model/arm.ts";
import { sameId } from "../model/ids.ts";
import { serviceKey, type Service } from "../model/kubernetes.ts";
import { dnsOwnerOf, isOtherClusters, sameKey, servicesOf } from "../resources/public-ip/public-ip-tags.ts";
import type { Observed } from "../observed.ts";
import { PLACEMENT } from "../intent/annotations.ts";
import { parseService } from "../intent/parse-service.ts";
import type { ServiceIntent } from "../intent/service-intent.ts";
import type { Rejection } from "../outcome.ts";

/** `used`: the public IPs that the Service stands on. */
export function refuseTakenLabel(
  observed: Observed,
  intent: ServiceIntent,
  used: readonly { readonly id: string }[],
): Rejection | undefined {
  const { dnsLabel } = intent;
  if (!dnsLabel) return undefined;
  const others = [...observed.publicIPs.values()].flat().filter(({ id }) => !used.some((own) => sameId(own.id, id)));
  for (const publicIP of others) {
    const holder = bears(publicIP, dnsLabel) ? holderOf(observed, publicIP, dnsLabel) : undefined;
    if (holder !== undefined) return rejectionOf(dnsLabel, publicIP, holder);
  }
  return undefined;
}

/** A label with a scope lives beside others of its name. */
function bears({ properties: { dnsSettings } }: PublicIP, label: string): boolean {
  return dnsSettings?.domainNameLabel === label && dnsSettings["domainNameLabelScope"] === undefined;
}

function holderOf({ otherServices, config }: Observed, publicIP: PublicIP, label: string): Service | undefined {
  if (isOtherClusters(publicIP, config.clusterName)) return undefined;
  const owner = dnsOwnerOf(publicIP);
  const keys = owner === undefined ? (servicesOf(publicIP) ?? []) : [owner];
  const isHolder = (service: Service): boolean =>
    keys.some((key) => sameKey(key, serviceKey(service))) && service.metadata.deletionTimestamp === undefined;
  return otherServices.filter(isHolder).find((service) => {
    const parsed = parseService(service, config);
    return !("intent" in parsed) || parsed.intent.dnsLabel === label;
  });
}

function rejectionOf(label: string, { name }: PublicIP, holder: Service): Rejection {
  const message =
    `${PLACEMENT.dnsLabel.key}: "${label}" is the label of Service ${serviceKey(holder)} already (public IP "${name}"), and ` +
    `Azure gives a label to one public IP of a region only: choose another one, or take it from that Service first`;
  return { kind: "rejection", reason: "DNSLabelConflict", message };
}
