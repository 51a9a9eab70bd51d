/** Reads Services from manifests: YAML or JSON, one document or many, Lists included. Other kinds of objects are left out. */
import { readFileSync } from "node:fs";

import { parseAllDocuments } from "yaml";

import { projectService } from "../controller/projections.ts";
import { errorText } from "../core/util/text.ts";
import type { KubeObject } from "../kube/client/resources.ts";

/** The manifests cannot be used. The message names the file, the document and what is wrong. */
class ManifestError extends Error {
  override readonly name = "ManifestError";
}

/** `-`: standard input. */
export function readManifests(file: string, namespace: string): KubeObject[] {
  const where = file === "-" ? "standard input" : file;
  return parseManifests(readText(file, where), where, namespace);
}

function readText(file: string, where: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new ManifestError(`${where} cannot be read: ${errorText(error)}`);
  }
}

/** `namespace`: of Services that name none. */
export function parseManifests(text: string, where: string, namespace: string): KubeObject[] {
  const documents = parseAllDocuments(text);
  const objects = [...documents].flatMap((document, at) => {
    const [problem] = document.errors;
    const [line = ""] = (problem?.message ?? "").split("\n");
    if (problem !== undefined) throw new ManifestError(`${where}, document ${at + 1}: not YAML: ${line}`);
    return itemsOf(document.toJS()).map((object) => ({ object, at: `${where}, document ${at + 1}` }));
  });
  const services = objects
    .filter(({ object }) => object["kind"] === "Service" && (object["apiVersion"] ?? "v1") === "v1")
    .map(({ object, at }) => serviceOf(object, at, namespace));
  if (services.length === 0) throw new ManifestError(`${where} has no Service`);
  const keys = services.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  const twice = keys.find((key, at) => keys.indexOf(key) !== at);
  if (twice !== undefined) throw new ManifestError(`${where} has Service ${twice} twice`);
  return services;
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The objects of a document: of a List, its items. */
function itemsOf(document: unknown): Fields[] {
  if (!isFields(document)) return [];
  const { kind, items } = document;
  return typeof kind === "string" && kind.endsWith("List") && Array.isArray(items)
    ? items.filter(isFields)
    : [document];
}

/** Projected once here, so that what cannot be one is told before anything is read. */
function serviceOf(object: Fields, where: string, namespace: string): KubeObject {
  const { metadata } = object;
  const name = isFields(metadata) ? metadata["name"] : undefined;
  if (!isFields(metadata) || typeof name !== "string" || name === "") {
    throw new ManifestError(`${where}: a Service without metadata.name`);
  }
  const own = metadata["namespace"];
  const place = { name, namespace: typeof own === "string" && own !== "" ? own : namespace };
  const service = { ...object, metadata: { ...metadata, ...place, uid: "", resourceVersion: "" } };
  try {
    projectService(service);
  } catch (error) {
    throw new ManifestError(`${where}: Service ${place.namespace}/${name}: ${errorText(error)}`);
  }
  return service;
}
