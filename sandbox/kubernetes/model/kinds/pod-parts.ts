/** Defaults of the parts of a pod's spec: probes, volumes, references to fields, and the account under its former name. */
import type { JsonObject } from "../contract.ts";
import { asArray, asObject } from "../json.ts";

const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"];
const PROBE = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
/** 0644. */
const MODE = 420;

export function probeDefaults(container: JsonObject): JsonObject {
  const given = PROBES.filter((name) => container[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, probe(asObject(container[name]))]));
}

function probe(given: JsonObject): JsonObject {
  const { httpGet } = given;
  const request = httpGet === undefined ? {} : { httpGet: { path: "/", scheme: "HTTP", ...asObject(httpGet) } };
  return { ...PROBE, ...given, ...request };
}

export function environmentDefaults(container: JsonObject): JsonObject {
  if (container["env"] === undefined) return {};
  const env = asArray(container["env"]).map((item) => {
    const variable = asObject(item);
    const from = asObject(variable["valueFrom"]);
    if (from["fieldRef"] === undefined) return variable;
    return { ...variable, valueFrom: { ...from, fieldRef: { apiVersion: "v1", ...asObject(from["fieldRef"]) } } };
  });
  return { env };
}

export function volumeDefaults(spec: JsonObject): JsonObject {
  if (spec["volumes"] === undefined) return {};
  return { volumes: asArray(spec["volumes"]).map((item) => volume(asObject(item))) };
}

function volume(given: JsonObject): JsonObject {
  const filled: JsonObject = { ...given };
  for (const source of ["secret", "configMap", "downwardAPI", "projected"]) {
    if (given[source] !== undefined) filled[source] = { defaultMode: MODE, ...asObject(given[source]) };
  }
  if (given["hostPath"] !== undefined) filled["hostPath"] = { type: "", ...asObject(given["hostPath"]) };
  const projected = asObject(filled["projected"]);
  if (projected["sources"] === undefined) return filled;
  const sources = asArray(projected["sources"]).map((item) => {
    const { serviceAccountToken, ...rest } = asObject(item);
    if (serviceAccountToken === undefined) return rest;
    return { ...rest, serviceAccountToken: { expirationSeconds: 3600, ...asObject(serviceAccountToken) } };
  });
  return { ...filled, projected: { ...projected, sources } };
}

/** The account has two names. */
export function accountNames(spec: JsonObject): JsonObject {
  const name = spec["serviceAccountName"] ?? spec["serviceAccount"];
  return name === undefined || name === "" ? {} : { serviceAccountName: name, serviceAccount: name };
}
