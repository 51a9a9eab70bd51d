/**
 * Says whether a Service changed in what a load balancer depends on: equal fingerprints, nothing to do. It covers what
 * the incumbent's controller compares, and leaves out what changes by itself: status, labels, other controllers' and
 * our own notes in the annotations.
 */
import type { Service } from "../model/kubernetes.ts";
import { md5 } from "../util/md5.ts";
import { OURS } from "../intent/annotations.ts";

const OUR_NOTES = "azlb.io/";
const KUBECTL_NOTE = "kubectl.kubernetes.io/last-applied-configuration";

export function specFingerprint(service: Service): string {
  const { spec, metadata } = service;
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => counts(key));
  return md5(
    JSON.stringify([
      metadata.uid,
      spec.type,
      spec.loadBalancerClass ?? null,
      spec.ports.map((port) => [
        port.name ?? "",
        port.protocol,
        port.port,
        port.nodePort ?? 0,
        port.targetPort ?? "",
        port.appProtocol ?? "",
      ]),
      spec.loadBalancerSourceRanges ?? [],
      spec.loadBalancerIP ?? "",
      spec.externalTrafficPolicy ?? "Cluster",
      spec.healthCheckNodePort ?? 0,
      spec.sessionAffinity ?? "None",
      spec.ipFamilies ?? ["IPv4"],
      annotations.sort(([one], [other]) => (one < other ? -1 : 1)),
    ]),
  );
}

function counts(key: string): boolean {
  return key === OURS.driftPolicy.key || (!key.startsWith(OUR_NOTES) && key !== KUBECTL_NOTE);
}
