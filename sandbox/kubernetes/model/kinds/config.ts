/** ConfigMaps and Secrets: their schema and validation. */
import type { KubeObject } from "../contract.ts";
import { asObject, asString, sameJson, without } from "../json.ts";
import { ageColumn, column, nameColumn } from "../read/column.ts";
import { bytes, mapOf, optionalFlag, text, textMap } from "../schema/schema.ts";
import { type Cause, forbiddenField, invalidValue, required } from "../status-error.ts";
import { defineKind } from "./define.ts";

const KEY = /^[-._a-zA-Z0-9]{1,253}$/;

function keyProblems(object: KubeObject, field: string): Cause[] {
  return Object.keys(asObject(object[field]))
    .filter((key) => !KEY.test(key))
    .map((key) =>
      invalidValue(
        `${field}[${key}]`,
        key,
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
      ),
    );
}

function frozenProblems(object: KubeObject, old: KubeObject | undefined, fields: readonly string[]): Cause[] {
  if (old?.["immutable"] !== true) return [];
  const changed = fields.filter((field) => !sameJson(object[field], old[field]));
  return changed.map((field) => forbiddenField(field, "field is immutable when `immutable` is set"));
}

const keyCount = (object: KubeObject): number =>
  Object.keys(asObject(object["data"])).length + Object.keys(asObject(object["binaryData"])).length;

export const configMap = defineKind({
  kind: "ConfigMap",
  plural: "configmaps",
  shortNames: ["cm"],
  fields: { data: textMap, binaryData: mapOf(bytes), immutable: optionalFlag },
  columns: [nameColumn, column("Data", keyCount), ageColumn],
  behaviour: {
    validate: (object, old) => [
      ...keyProblems(object, "data"),
      ...keyProblems(object, "binaryData"),
      ...frozenProblems(object, old, ["data", "binaryData", "immutable"]),
    ],
  },
});

/** `stringData` is write-only: it is encoded into `data`. */
function encodeStringData(secret: KubeObject): KubeObject {
  const plain = Object.entries(asObject(secret["stringData"]));
  const encoded = plain.map(([key, value]) => [key, Buffer.from(asString(value)).toString("base64")] as const);
  const data = { ...asObject(secret["data"]), ...Object.fromEntries(encoded) };
  const rest = without(secret, "stringData", "data");
  const type = secret["type"] ?? "Opaque";
  return Object.keys(data).length === 0 ? { ...rest, type } : { ...rest, data, type };
}

/** Keys that a Secret type requires. */
const REQUIRED_KEYS: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
};

function missingKeys(secret: KubeObject): Cause[] {
  const data = asObject(secret["data"]);
  const keys = REQUIRED_KEYS[asString(secret["type"])] ?? [];
  return keys.filter((key) => data[key] === undefined).map((key) => required(`data[${key}]`));
}

export const secret = defineKind({
  kind: "Secret",
  plural: "secrets",
  selectableFields: ["type"],
  fields: { data: mapOf(bytes), stringData: textMap, type: text, immutable: optionalFlag },
  columns: [nameColumn, column("Type", (object) => object["type"]), column("Data", keyCount), ageColumn],
  behaviour: {
    setDefaults: encodeStringData,
    validate: (object, old) => [
      ...keyProblems(object, "data"),
      ...missingKeys(object),
      ...frozenProblems(object, old, ["data", "immutable"]),
      ...(old === undefined || old["type"] === object["type"]
        ? []
        : [invalidValue("type", object["type"], "field is immutable")]),
    ],
  },
});
