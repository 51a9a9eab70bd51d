/** Renders objects in the shape that the client accepts: whole, metadata only, or as table rows. */
import type { JsonObject, KubeObject } from "../contract.ts";
import { groupVersion, type Resource } from "../resource.ts";
import { StatusError } from "../status-error.ts";
import { fromStored } from "../write/write.ts";
import type { Page } from "./list.ts";

export type Shape = "object" | "metadata" | "table";

/** Renders a stored object for the wire. */
export type Presenter = (object: KubeObject, nowMs: number) => unknown;

/** The first supported shape of the Accept header; throws 406 if there is none. Protobuf is not supported. */
export function acceptedShape(accept: string): Shape {
  if (accept.trim() === "") return "object";
  for (const item of accept.split(",")) {
    const [type = "", ...parameters] = item.split(";").map((part) => part.trim());
    if (!["application/json", "application/*", "*/*"].includes(type)) continue;
    const as = parameters.find((parameter) => parameter.startsWith("as="))?.slice(3);
    if (as === undefined) return "object";
    const version = parameters.find((parameter) => parameter.startsWith("v="))?.slice(2);
    if (version !== "v1") continue;
    if (as === "Table") return "table";
    if (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") return "metadata";
  }
  const message = "only the following media types are accepted: application/json";
  throw new StatusError(406, "NotAcceptable", message);
}

interface Presenting {
  readonly resource: Resource;
  readonly shape: Shape;
  readonly nowMs: number;
  /** `includeObject` of a table: Metadata (the default), Object or None. */
  readonly includeObject: string | undefined;
}

export function presentObject(presenting: Presenting, object: KubeObject): unknown {
  switch (presenting.shape) {
    case "object":
      return fromStored(presenting.resource, object);
    case "metadata":
      return partial(object);
    case "table":
      return table(presenting, [object], { resourceVersion: object.metadata.resourceVersion }, true);
  }
}

export function presentList(presenting: Presenting, page: Page): unknown {
  const { resource, shape } = presenting;
  const metadata = {
    resourceVersion: page.resourceVersion,
    ...(page.continue === undefined ? {} : { continue: page.continue }),
    ...(page.remainingItemCount === undefined ? {} : { remainingItemCount: page.remainingItemCount }),
  };
  if (shape === "table") return table(presenting, page.items, metadata, true);
  if (shape === "metadata") {
    const items = page.items.map(partial);
    return { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata, items };
  }
  const items = page.items.map((object) => listed(resource, object));
  return { kind: resource.listKind, apiVersion: groupVersion(resource), metadata, items };
}

/** Renders the objects of a watch: only the first table of a stream has column definitions. */
export function watchPresenter(presenting: Presenting): Presenter {
  if (presenting.shape !== "table") return (object) => presentObject(presenting, object);
  let first = true;
  return (object, nowMs) => {
    const metadata = { resourceVersion: object.metadata.resourceVersion };
    const row = table({ ...presenting, nowMs }, [object], metadata, first);
    first = false;
    return row;
  };
}

/** Items of built-in lists have neither kind nor apiVersion. */
function listed(resource: Resource, object: KubeObject): unknown {
  const shown = fromStored(resource, object);
  if (resource.custom) return shown;
  const { kind: _kind, apiVersion: _apiVersion, ...item } = shown;
  return item;
}

function partial(object: KubeObject): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
}

function table(
  presenting: Presenting,
  objects: readonly KubeObject[],
  metadata: JsonObject,
  withColumns: boolean,
): unknown {
  const { resource, nowMs, includeObject } = presenting;
  const columnDefinitions = resource.columns.map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));
  const rows = objects.map((object) => ({
    cells: resource.columns.map((column) => column.cell(object, nowMs)),
    ...(includeObject === "None"
      ? {}
      : { object: includeObject === "Object" ? fromStored(resource, object) : partial(object) }),
  }));
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: withColumns ? columnDefinitions : null,
    rows,
  };
}
