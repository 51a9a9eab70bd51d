/** Parses an HTTP request into the model's request; an unreadable body is marked as malformed. */
import type { ArmRequest } from "../model/index.ts";
import type { HttpRequest } from "./http-message.ts";

export function armRequestOf(request: HttpRequest, nowMs: number): ArmRequest {
  const { path, query, headers, baseUrl, text } = request;
  const base = { method: request.method as ArmRequest["method"], path, query, headers, nowMs, baseUrl };
  if (text.trim() === "") return { ...base, body: undefined };
  try {
    const body = JSON.parse(text) as unknown;
    return isNestedWithin(MAX_NESTING, body) ? { ...base, body } : { ...base, body: undefined, malformed: true };
  } catch {
    return { ...base, body: undefined, malformed: true };
  }
}

/** Deeper bodies are malformed, as for Azure's parser. */
const MAX_NESTING = 64;

function isNestedWithin(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (!isNestedWithin(levels - 1, item)) return false;
  }
  return true;
}
