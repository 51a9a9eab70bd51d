/**
 * A Service and the config become what the Service asks for, with warnings, or a rejection that says all that is wrong.
 * Only for Services that should have a load balancer: cleaning up needs no more than `ownerOf`.
 */
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { Service } from "../model/kubernetes.ts";
import { AnnotationReader } from "./annotation-reader.ts";
import { LATER, OURS, PLACEMENT } from "./annotations.ts";
import { ownerOf } from "./ownership.ts";
import { parseAccess } from "./parse-access.ts";
import { parseAddresses } from "./parse-addresses.ts";
import { parsePorts } from "./parse-ports.ts";
import type { ServiceIntent } from "./service-intent.ts";
import type { Rejection, Warning } from "../outcome.ts";
import { memoAll } from "../util/memo.ts";
import { unknownAnnotations } from "./unknown-annotations.ts";

export type ParsedService = { readonly intent: ServiceIntent; readonly warnings: readonly Warning[] } | Rejection;

const AUTO = "__auto__";

export function parseService(service: Service, config: ClusterConfig): ParsedService {
  return parsed(config, service);
}

/** A Service is parsed for itself, and again for every Service that it shares an address with. */
const parsed = memoAll((config: ClusterConfig, service: Service): ParsedService => {
  const read = new AnnotationReader(service.metadata.annotations);
  const unknown = unknownAnnotations(read.keys, portsOf(service));
  const later = refuseWhatIsForLater(read);
  if (later !== undefined) return { ...later, warnings: unknown.warnings };
  for (const { reason, message } of unknown.problems) read.reject(reason, message);
  const scope = read.isOn(PLACEMENT.internal) ? "internal" : "external";
  const intent: ServiceIntent = {
    owner: ownerOf(service),
    scope,
    ...parseAddresses(service, config, scope, read),
    ...parsePorts(service, config, scope, read),
    vmSets: parseMode(config, read),
    access: parseAccess(service, scope, read),
    driftPolicy: read.get(OURS.driftPolicy),
  };
  if (service.spec.ports.length === 0) read.reject("InvalidService", "spec.ports is empty: a load balancer needs one");
  const warnings = distinct([...read.warnings, ...unknown.warnings]);
  return read.rejection === undefined ? { intent, warnings } : { ...read.rejection, warnings };
});

/** A user who sets these relies on them, so nothing is touched. */
function refuseWhatIsForLater(read: AnnotationReader): Rejection | undefined {
  const refused = [
    ...read.keys.filter((key) => key.toLowerCase() === LATER.configurations.key),
    ...((read.raw(LATER.plsCreate) ?? "").trim().toLowerCase() === "true" ? [LATER.plsCreate.key] : []),
  ];
  if (refused.length === 0) return undefined;
  const message =
    `${refused.join(" and ")} cannot be honoured yet: remove it, or leave this Service to another controller by ` +
    "spec.loadBalancerClass. What it has in Azure is left as it is";
  return { kind: "rejection", reason: "NotSupportedYet", message };
}

function parseMode(config: ClusterConfig, read: AnnotationReader): ServiceIntent["vmSets"] {
  const names = (read.get(PLACEMENT.mode) ?? []).filter((name) => name !== "");
  if (names.length === 0) return { kind: "primary" };
  if (config.sku === "standard") {
    read.warnOfNoEffect(PLACEMENT.mode, "Standard has one load balancer for all VM sets");
    return { kind: "primary" };
  }
  return names.some((name) => name.toLowerCase() === AUTO) ? { kind: "auto" } : { kind: "named", names };
}

function portsOf(service: Service): readonly number[] {
  const { ports, healthCheckNodePort } = service.spec;
  return [...ports.map((port) => port.port), ...(healthCheckNodePort === undefined ? [] : [healthCheckNodePort])];
}

/** A key that several ports fall back to is read once for each of them. */
function distinct(warnings: readonly Warning[]): readonly Warning[] {
  return [...new Map(warnings.map((warning) => [warning.message, warning])).values()];
}
