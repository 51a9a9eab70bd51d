/**
 * Misspelt annotations are loud: a key that looks like one of ours and is none gets a warning with the nearest known
 * key. Other people's keys are nobody's business.
 */
import { editDistance, closestMatch } from "../util/text.ts";
import { GROUPS, PORT_KEYS, PREFIX } from "./annotations.ts";
import type { Warning } from "./service-intent.ts";

const KNOWN: readonly string[] = GROUPS.flatMap((group) => group.annotations.map((annotation) => annotation.key));
const PLAIN = new Set(KNOWN.filter((key) => !key.includes("{port}")));
const PORT_PATTERN = new RegExp(
  `^(?:${Object.values(PORT_KEYS)
    .map((annotation) => annotation.key.replaceAll(".", "\\.").replace("{port}", "(\\d+)"))
    .join("|")})$`,
);
/** Most keys of other people are told by their domain, without a look at all names. */
const DOMAINS = [...new Set(KNOWN.map((key) => key.slice(0, key.indexOf("/"))))];
const LOOKS_LIKE_OURS = [`${PREFIX}azure-`, `${PREFIX}port_`];
/** So many wrong letters make a key under another prefix suspicious. */
const FEW_LETTERS = 2;

/** `ports`: the numbers that a per-port key may name. */
export function unknownAnnotations(keys: readonly string[], ports: readonly number[]): Warning[] {
  return keys.flatMap((key) => {
    if (PLAIN.has(key)) return [];
    const port = PORT_PATTERN.exec(key)?.slice(1).find(Boolean);
    if (port !== undefined) return ports.includes(Number(port)) ? [] : [warningOfPort(key, port, ports)];
    return isSuspicious(key) ? [warningOfKey(key)] : [];
  });
}

function isSuspicious(key: string): boolean {
  if (LOOKS_LIKE_OURS.some((start) => key.toLowerCase().startsWith(start))) return true;
  const [domain = "", name] = key.split("/");
  if (name !== undefined && !DOMAINS.some((known) => isSlipOf(domain, known))) return false;
  return [key, withPlaceholder(key)].some((form) => KNOWN.some((known) => isSlipOf(form, known)));
}

function isSlipOf(key: string, known: string): boolean {
  return editDistance(known, key, FEW_LETTERS) <= FEW_LETTERS;
}

/** As a per-port key is listed. */
function withPlaceholder(key: string): string {
  return key.replace(/\d+(?=[^/]*$)/, "{port}");
}

function warningOfKey(key: string): Warning {
  const isPortKey = key.toLowerCase().startsWith(`${PREFIX}port`);
  const meant = closestMatch(isPortKey ? withPlaceholder(key) : key, KNOWN);
  return { reason: "UnknownAnnotation", message: `unknown annotation ${key}: did you mean ${meant}?` };
}

function warningOfPort(key: string, port: string, ports: readonly number[]): Warning {
  const message = `${key} names port ${port}, which the Service does not have; it has ${ports.join(", ")}`;
  return { reason: "UnknownAnnotation", message };
}
