/**
 * Compares a recorded answer with ours: status, headers that clients act on, and the whole body, member by member.
 * What no two runs share (GUIDs, ETags, times, public addresses, hashes in names) is replaced by a placeholder on both
 * sides; ETags keep their pattern of repetition, so that "changes twice" and "covers the whole" are compared too.
 */
import type { WireAnswer } from "../arm-http.ts";
import type { Exchange } from "./recordings.ts";

export interface Unlike {
  /** `status`, `header etag`, `body.properties.probes[0].name`. */
  readonly where: string;
  readonly recorded: unknown;
  readonly ours: unknown;
}

const HEADERS = ["azure-asyncoperation", "azure-asyncnotification", "location", "etag", "x-ms-failure-cause"];

export interface Comparison {
  compare(exchange: Exchange, answer: WireAnswer): Unlike[];
}

/** One per recording: ETags are numbered in order of appearance throughout it. */
export function comparison(): Comparison {
  const recordedTags = tagNumbers();
  const ourTags = tagNumbers();
  return {
    compare(exchange, answer) {
      const found: Unlike[] = [];
      const isGenuine = !JSON.stringify(exchange.response.body ?? "").includes(ZEROED);
      if (exchange.response.status !== answer.status) {
        found.push({ where: "status", recorded: exchange.response.status, ours: answer.status });
      }
      for (const name of HEADERS) compareHeader(name, exchange, answer, found);
      const recorded = normal(exchange.response.body ?? undefined, isGenuine ? recordedTags : anyTag);
      const ours = normal(answer.body, isGenuine ? ourTags : anyTag);
      walk("body", recorded, ours, found);
      return found;
    },
  };
}

const ZEROED = 'W/\\"00000000-0000-0000-0000-000000000000\\"';

type TagNumber = (tag: string) => string;
const anyTag: TagNumber = () => "<etag>";

function tagNumbers(): TagNumber {
  const seen = new Map<string, number>();
  return (tag) => {
    const known = seen.get(tag) ?? seen.size + 1;
    seen.set(tag, known);
    return `<etag ${known}>`;
  };
}

function compareHeader(name: string, exchange: Exchange, answer: WireAnswer, found: Unlike[]): void {
  const recorded = exchange.response.headers[name];
  const ours = answer.headers[name];
  if ((recorded === undefined) !== (ours === undefined)) found.push({ where: `header ${name}`, recorded, ours });
}

const PLACEHOLDERS: readonly [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, "<guid>"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)/g, "<time>"],
  [/(?<![\d.])(?!10\.)\d{1,3}(\.\d{1,3}){3}(?![\d.])/g, "<public address>"],
  [/^([0-9A-F]{2}-){5}[0-9A-F]{2}$/, "<mac>"],
  [/[a-z0-9]{26}(?=\.[a-z]{2}\.internal\.cloudapp\.net$)/, "<hash>"],
  [/[a-z]{2}(?=\.internal\.cloudapp\.net$)/, "<region>"],
  [/(?<=^[a-z0-9-]+\.)[a-z0-9]{16}(?=\.)/, "<hash>"],
  [/(?<=_OS__1_)[0-9a-f]{32}/g, "<hash>"],
  // Compute counts writes in its ETags, and the recording leaves some of them out.
  [/(?<=does not match etag )"\d+"/, "<etag>"],
];

/** Versions that Azure raises every month. */
const RISING = new Set(["exactVersion", "osVersion", "vmAgentVersion"]);

function normal(value: unknown, tagNumber: TagNumber, key = ""): unknown {
  if (typeof value === "string") {
    if (RISING.has(key)) return "<version>";
    if (key === "etag" && value.startsWith("W/")) return tagNumber(value);
    return PLACEHOLDERS.reduce((text, [pattern, placeholder]) => text.replace(pattern, placeholder), value);
  }
  if (Array.isArray(value)) return value.map((item) => normal(item, tagNumber));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, normal(item, tagNumber, name)]));
}

function walk(where: string, recorded: unknown, ours: unknown, found: Unlike[]): void {
  if (isObject(recorded) && isObject(ours)) {
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(ours)])) {
      walk(`${where}.${name}`, recorded[name], ours[name], found);
    }
  } else if (Array.isArray(recorded) && Array.isArray(ours) && recorded.length === ours.length) {
    recorded.forEach((item, index) => walk(`${where}[${index}]`, item, ours[index], found));
  } else if (JSON.stringify(recorded) !== JSON.stringify(ours)) {
    found.push({ where, recorded, ours });
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
