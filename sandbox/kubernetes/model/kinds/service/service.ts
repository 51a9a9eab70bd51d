/** The Service kind: schema, printed columns, and its behaviour, which the files beside this one implement. */
import type { KubeObject } from "../../contract.ts";
import { ageColumn, column, nameColumn, wide } from "../../read/column.ts";
import {
  condition,
  count,
  flag,
  integer,
  intOrString,
  listOf,
  mergeList,
  optionalFlag,
  optionalText,
  struct,
  text,
  textMap,
} from "../../schema/schema.ts";
import { defineKind } from "../define.ts";
import { label1035Problems } from "../metadata.ts";
import { allocateService } from "./allocate.ts";
import { serviceDefaults } from "./defaults.ts";
import { ingressOf, isLoadBalancer, specOf } from "./spec.ts";
import { prepareServiceUpdate } from "./update.ts";
import { validateServiceConditions, validateServiceStatus } from "./validate-status.ts";
import { validateService } from "./validate.ts";

const NONE = "<none>";

function externalIpCell(service: KubeObject): string {
  const spec = specOf(service);
  if (spec.type === "ExternalName") return spec.externalName ?? NONE;
  const external = spec.externalIPs ?? [];
  if (!isLoadBalancer(spec)) return external.join(",") || NONE;
  const ingress = [...new Set(ingressOf(service).map((item) => item.ip ?? item.hostname ?? ""))].sort().join(",");
  return [ingress, ...external].filter((item) => item !== "").join(",") || "<pending>";
}

function portsCell(service: KubeObject): string {
  const ports = specOf(service).ports ?? [];
  const texts = ports.map((port) => {
    const node = port.nodePort === undefined ? "" : `:${port.nodePort}`;
    return `${port.port}${node}/${port.protocol}`;
  });
  return texts.join(",") || NONE;
}

function selectorCell(service: KubeObject): string {
  const pairs = Object.entries(specOf(service).selector ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.sort().join(",") || NONE;
}

export const service = defineKind({
  kind: "Service",
  plural: "services",
  shortNames: ["svc"],
  categories: ["all"],
  subresources: ["status"],
  deleteAnswersObject: true,
  selectableFields: ["spec.type", "spec.clusterIP"],
  fields: {
    spec: struct({
      ports: mergeList(
        "port",
        struct({
          name: text,
          protocol: text,
          appProtocol: optionalText,
          port: integer,
          targetPort: intOrString,
          nodePort: count,
        }),
      ),
      selector: textMap,
      clusterIP: text,
      clusterIPs: listOf(text),
      type: text,
      externalIPs: listOf(text),
      sessionAffinity: text,
      loadBalancerIP: text,
      loadBalancerSourceRanges: listOf(text),
      externalName: text,
      externalTrafficPolicy: text,
      healthCheckNodePort: count,
      publishNotReadyAddresses: flag,
      sessionAffinityConfig: struct({ clientIP: struct({ timeoutSeconds: integer }) }),
      ipFamilies: listOf(text),
      ipFamilyPolicy: text,
      allocateLoadBalancerNodePorts: optionalFlag,
      loadBalancerClass: optionalText,
      internalTrafficPolicy: text,
      trafficDistribution: optionalText,
    }),
    status: struct({
      loadBalancer: struct({
        ingress: listOf(
          struct({
            ip: text,
            hostname: text,
            ipMode: optionalText,
            ports: listOf(struct({ port: integer, protocol: text, error: optionalText })),
          }),
        ),
      }),
      conditions: mergeList("type", condition),
    }),
  },
  columns: [
    nameColumn,
    column("Type", (object) => specOf(object).type),
    column("Cluster-IP", (object) => specOf(object).clusterIP ?? NONE),
    column("External-IP", externalIpCell),
    column("Port(s)", portsCell),
    ageColumn,
    wide("Selector", selectorCell),
  ],
  behaviour: {
    validateName: label1035Problems,
    setDefaults: serviceDefaults,
    prepareCreate: (object) => ({ ...object, status: { loadBalancer: {} } }),
    prepareUpdate: prepareServiceUpdate,
    validate: validateService,
    validateStatus: (object) => [...validateServiceStatus(object), ...validateServiceConditions(object)],
    allocate: allocateService,
  },
});
