/** JSON patch (RFC 6902). An operation that does not fit the document throws `PatchMismatch`. */
import { isObject, sameJson } from "../json.ts";

export class PatchMismatch extends Error {
  override readonly name = "PatchMismatch";
}

/** The patch itself is no patch: an unknown operation, a missing path. */
export class MalformedPatch extends Error {
  override readonly name = "MalformedPatch";
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

export function jsonPatch(document: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) throw new MalformedPatch("a JSON patch is a list of operations");
  return operations.reduce<unknown>((current, item) => applyOperation(current, checked(item)), document);
}

function checked(item: unknown): Operation {
  if (isObject(item) && typeof item["op"] === "string" && typeof item["path"] === "string") {
    return item as unknown as Operation;
  }
  throw new MalformedPatch(`each operation needs "op" and "path": ${JSON.stringify(item)}`);
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
      throw new MalformedPatch(`unexpected operation "${operation.op}"`);
  }
}

function test(document: unknown, path: readonly string[], operation: Operation): unknown {
  const found = readOrUndefined(document, path);
  if (sameJson(found ?? null, operation.value ?? null)) return document;
  throw new PatchMismatch(`testing value ${operation.path} failed: test failed`);
}

function pointer(path: string): string[] {
  if (path === "") return [];
  if (!path.startsWith("/")) throw new MalformedPatch(`a path starts with "/": "${path}"`);
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

/** A copy of the document with the value put in (or taken out) at the path. */
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
  else copy[name] = value ?? null;
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
    throw new PatchMismatch(`Unable to access invalid index: ${name}: invalid index referenced`);
  }
  return Number(name);
}

function missing(path: readonly string[]): PatchMismatch {
  return new PatchMismatch(`doc is missing path: "/${path.join("/")}": missing value`);
}
