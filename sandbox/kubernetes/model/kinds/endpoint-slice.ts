/** EndpointSlices: their schema and validation. The address type is immutable. */
import type { KubeObject } from "../contract.ts";
import { familyOf } from "../service-ranges.ts";
import { asArray, asObject, asString, scalarText } from "../json.ts";
import { ageColumn, column, nameColumn } from "../read/column.ts";
import {
  anyObject,
  integer,
  listOf,
  objectReference,
  optionalFlag,
  optionalText,
  struct,
  text,
  textMap,
} from "../schema/schema.ts";
import { type Cause, invalidValue, notSupported, required } from "../status-error.ts";
import { defineKind } from "./define.ts";

const ADDRESS_TYPES = ["FQDN", "IPv4", "IPv6"];

function validate(slice: KubeObject, old: KubeObject | undefined): Cause[] {
  const type = asString(slice["addressType"]);
  const causes: Cause[] = [];
  if (type === "") causes.push(required("addressType"));
  else if (!ADDRESS_TYPES.includes(type)) causes.push(notSupported("addressType", type, ADDRESS_TYPES));
  if (old !== undefined && old["addressType"] !== slice["addressType"]) {
    causes.push(invalidValue("addressType", type, "field is immutable"));
  }
  asArray(slice["endpoints"]).forEach((endpoint, index) => {
    const addresses = asArray(asObject(endpoint)["addresses"]).map(asString);
    const at = `endpoints[${index}].addresses`;
    if (addresses.length === 0) causes.push(required(at, "must contain at least 1 address"));
    const stray = addresses.find((address) => type !== "FQDN" && familyOf(address) !== type);
    if (stray !== undefined) causes.push(invalidValue(at, stray, `must be an ${type} address`));
  });
  return causes;
}

/** The first three items and the number of the others. */
function brief(items: readonly string[]): string {
  if (items.length === 0) return "<unset>";
  return items.length > 3 ? `${items.slice(0, 3).join(",")} + ${items.length - 3} more...` : items.join(",");
}

export const endpointSlice = defineKind({
  group: "discovery.k8s.io",
  kind: "EndpointSlice",
  plural: "endpointslices",
  generation: true,
  fields: {
    addressType: text,
    endpoints: listOf(
      struct({
        addresses: listOf(text),
        conditions: struct({ ready: optionalFlag, serving: optionalFlag, terminating: optionalFlag }),
        hostname: optionalText,
        targetRef: objectReference,
        deprecatedTopology: textMap,
        nodeName: optionalText,
        zone: optionalText,
        hints: anyObject,
      }),
    ),
    ports: listOf(struct({ name: optionalText, protocol: optionalText, port: integer, appProtocol: optionalText })),
  },
  columns: [
    nameColumn,
    column("AddressType", (object) => object["addressType"]),
    column("Ports", (object) =>
      brief(asArray(object["ports"]).map((port) => scalarText(asObject(port)["port"] ?? "*"))),
    ),
    column("Endpoints", (object) =>
      brief(asArray(object["endpoints"]).flatMap((item) => asArray(asObject(item)["addresses"]).map(asString))),
    ),
    ageColumn,
  ],
  behaviour: {
    setDefaults: (slice) => {
      const ports = asArray(slice["ports"]).map(asObject);
      if (ports.length === 0) return slice;
      return { ...slice, ports: ports.map((port) => ({ name: "", protocol: "TCP", ...port })) };
    },
    validate,
  },
});
