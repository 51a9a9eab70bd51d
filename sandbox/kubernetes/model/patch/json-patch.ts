/**
 * JSON Patch (RFC 6902) as kube-apiserver applies it, with its error texts. The document is copied along the changed
 * paths and never altered. The caller turns the two errors into responses.
 */
import { isObject, sameJson, setField } from "../json.ts";

/** An operation does not apply to the document. */
export class PatchMismatchError extends Error {
  override readonly name = "PatchMismatchError";
}

/** The patch is not a JSON Patch: an unknown operation, a missing path. */
export class MalformedPatchError extends Error {
  override readonly name = "MalformedPatchError";
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

export function jsonPatch(document: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) throw new MalformedPatchError("a JSON patch is a list of operations");
  return operations.reduce<unknown>((current, item) => applyOperation(current, parseOperation(item)), document);
}

function parseOperation(item: unknown): Operation {
  const { op, path, from, value } = isObject(item) ? item : {};
  if (typeof op === "string" && typeof path === "string") {
    return { op, path, value, ...(typeof from === "string" && { from }) };
  }
  throw new MalformedPatchError(`each operation needs "op" and "path": ${JSON.stringify(item)}`);
}

function applyOperation(document: unknown, operation: Operation): unknown {
  const path = pointer(operation.path);
  switch (operation.op) {
    case "add":
      return write(document, path, operation.value, "add");
    case "replace":
      read(document, path);
      return write(document, path, operation.value, "replace");
    case "remove":
      read(document, path);
      return write(document, path, undefined, "remove");
    case "test":
      return test(document, path, operation);
    case "copy":
      return write(document, path, read(document, pointer(operation.from ?? "")), "add");
    case "move": {
      const from = pointer(operation.from ?? "");
      const value = read(document, from);
      return write(write(document, from, undefined, "remove"), path, value, "add");
    }
    default:
      throw new MalformedPatchError(`unexpected operation "${operation.op}"`);
  }
}

/** A missing value equals null. */
function test(document: unknown, path: readonly string[], operation: Operation): unknown {
  const found = readOrUndefined(document, path);
  if (sameJson(found ?? null, operation.value ?? null)) return document;
  throw new PatchMismatchError(`testing value ${operation.path} failed: test failed`);
}

function pointer(path: string): string[] {
  if (path === "") return [];
  if (!path.startsWith("/")) throw new MalformedPatchError(`a path starts with "/": "${path}"`);
  return path
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function readOrUndefined(document: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => {
    if (Array.isArray(value)) return value[indexIn(name, value.length)] as unknown;
    return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }, document);
}

function read(document: unknown, path: readonly string[]): unknown {
  const value = readOrUndefined(document, path);
  if (value === undefined) throw missing(path);
  return value;
}

type Mode = "add" | "replace" | "remove";

/** A copy of the document with the value added, replaced or removed at the path. */
function write(document: unknown, path: readonly string[], value: unknown, mode: Mode): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (Array.isArray(document)) return writeList(document, name, rest, value, mode, path);
  if (!isObject(document)) throw missing(path);
  if (rest.length > 0) {
    if (!Object.hasOwn(document, name)) throw missing(path);
    return { ...document, [name]: write(document[name], rest, value, mode) };
  }
  const copy = { ...document };
  if (mode === "remove") delete copy[name];
  else setField(copy, name, value ?? null);
  return copy;
}

function writeList(
  list: readonly unknown[],
  name: string,
  rest: readonly string[],
  value: unknown,
  mode: Mode,
  path: readonly string[],
): unknown {
  const index = name === "-" && mode === "add" && rest.length === 0 ? list.length : indexIn(name, list.length + 1);
  if (rest.length > 0) {
    if (index >= list.length) throw missing(path);
    return list.with(index, write(list[index], rest, value, mode));
  }
  if (mode === "add") return list.toSpliced(index, 0, value ?? null);
  return mode === "remove" ? list.toSpliced(index, 1) : list.with(index, value ?? null);
}

function indexIn(name: string, length: number): number {
  if (!/^(0|[1-9]\d*)$/.test(name) || Number(name) >= length) {
    throw new PatchMismatchError(`Unable to access invalid index: ${name}: invalid index referenced`);
  }
  return Number(name);
}

function missing(path: readonly string[]): PatchMismatchError {
  return new PatchMismatchError(`doc is missing path: "/${path.join("/")}": missing value`);
}
