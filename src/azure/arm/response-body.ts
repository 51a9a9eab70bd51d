/**
 * The bodies of Azure's answers, read leniently. Error bodies: with or without the `error` wrapper, keys in any case,
 * details nested to any depth and flattened here; what they mean is decided by `failures.ts`. Resources: whether an answer
 * can be one at all, and whether its last operation is over; other values are not judged, and unknown ones go back as they
 * were read.
 */
import { memo } from "../../core/util/memo.ts";
import { redactTokens } from "../../core/util/text.ts";

export interface ErrorPart {
  readonly code: string;
  readonly message: string;
  readonly target: string | undefined;
}

/** Outermost first; empty when the text is no error body. */
export function parseErrorBody(text: string): readonly ErrorPart[] {
  const body = parseJson(text);
  if (body === undefined) return [];
  return partsOf(field(body, "error") ?? body);
}

/** The parts of an error object that stands inside another body, such as an operation's. */
export function partsOf(error: unknown): readonly ErrorPart[] {
  const code = textField(error, "code") ?? "";
  const message = redactTokens(textField(error, "message") ?? "");
  const own = code === "" && message === "" ? [] : [{ code, message, target: textField(error, "target") }];
  const details = field(error, "details");
  const inner = field(error, "innererror");
  return [
    ...own,
    ...(Array.isArray(details) ? details.flatMap(partsOf) : []),
    ...(isObject(inner) ? partsOf(inner) : []),
  ];
}

/** A field by its name in any case. */
export function field(value: unknown, name: string): unknown {
  if (!isObject(value)) return undefined;
  if (name in value) return value[name];
  const key = Object.keys(value).find((candidate) => candidate.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : value[key];
}

export function textField(value: unknown, name: string): string | undefined {
  const found = field(value, name);
  return typeof found === "string" ? found : undefined;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The body of an answer as JSON, parsed once however often it is looked at; `undefined` where it is none. */
export const jsonOf = memo(({ body }: { readonly body: string }) => parseJson(body));

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Where the last operation on a resource stands, in lower case; `undefined` where it does not say. */
export function provisioningStateOf(body: unknown): string | undefined {
  return textField(field(body, "properties"), "provisioningState")?.toLowerCase();
}

/** Is an operation running on it? */
export function isChanging(body: unknown): boolean {
  return ["creating", "updating", "deleting"].includes(provisioningStateOf(body) ?? "");
}

/** Did its last operation end badly? Then it is only made good by being written once more. */
export function isBroken(body: unknown): boolean {
  return ["failed", "canceled", "cancelled"].includes(provisioningStateOf(body) ?? "");
}

/** Under `properties`: lists of named parts. */
const PART_LISTS = [
  "frontendIPConfigurations",
  "backendAddressPools",
  "loadBalancingRules",
  "probes",
  "inboundNatRules",
  "inboundNatPools",
  "outboundRules",
  "securityRules",
  "loadBalancerBackendAddresses",
  "ipConfigurations",
  "subnets",
];

/** Why a body cannot be a resource, in words; `undefined`: it can. */
export function shapeProblem(body: unknown): string | undefined {
  if (!isObject(body)) return "it is no object";
  if (typeof body["id"] !== "string" || body["id"] === "") return "it has no id";
  for (const key of ["tags", "sku"]) {
    const value = body[key] ?? undefined;
    if (value !== undefined && !isObject(value)) return `its ${key} is no object`;
  }
  return problemOfNamed(body, "it");
}

function problemOfNamed({ name, properties }: Readonly<Record<string, unknown>>, where: string): string | undefined {
  if (name !== undefined && typeof name !== "string") return `the name of ${where} is no text`;
  if (properties === undefined) return undefined;
  if (!isObject(properties)) return `the properties of ${where} are no object`;
  for (const list of PART_LISTS) {
    const problem = problemOfParts(properties[list], list);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOfParts(parts: unknown, list: string): string | undefined {
  if (parts === undefined || parts === null) return undefined;
  if (!Array.isArray(parts)) return `${list} is no list`;
  for (const part of parts) {
    const problem = isObject(part) ? problemOfNamed(part, `one of ${list}`) : `one of ${list} is no object`;
    if (problem !== undefined) return problem;
  }
  return undefined;
}
