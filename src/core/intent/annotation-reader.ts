/**
 * Reads a Service's annotations by the table, and collects what the user must know about them: problems refuse the
 * Service, warnings do not. Reading goes on after a problem, so that a person sees all of them at once. Keys that the
 * table does not have are found too.
 */
import { type Annotation, PREFIX } from "./annotations/annotation.ts";
import { EXPOSURE, GROUPS } from "./annotations/groups.ts";
import { PLACEMENT } from "./annotations/placement.ts";
import { PORT_KEYS } from "./annotations/probes.ts";
import type { WarningReason } from "../events/event-reasons.ts";
import type { Rejection, Warning } from "../outcome.ts";
import { closestMatch, editDistance, isNearMiss } from "../util/text.ts";

type Annotations = Readonly<Record<string, string>>;

export class AnnotationReader {
  readonly keys: readonly string[];
  readonly unknown: UnknownAnnotations;
  readonly warnings: Warning[] = [];
  readonly #annotations: Annotations;
  readonly #ofPorts: PortAnnotations;
  readonly #problems: Warning[] = [];
  /** Of keys without a port: each port may ask for them again. */
  readonly #values = new Map<string, unknown>();

  /** `ports`: the numbers that a per-port key may name. */
  constructor(annotations: Annotations | undefined, ports: readonly number[]) {
    this.#annotations = annotations ?? {};
    this.keys = Object.keys(this.#annotations);
    this.#ofPorts = portAnnotations(this.#annotations, this.keys);
    this.unknown = unknownAnnotations(this.keys, ports);
  }

  /** As it is written; `undefined` where it is absent. */
  raw(annotation: Annotation<unknown>, port?: number): string | undefined {
    if (port === undefined) return this.#annotations[annotation.key];
    return this.#ofPorts.get(port)?.get(annotation.key);
  }

  /** `undefined` where it is absent, blank or wrong. */
  get<Value>(annotation: Annotation<Value>, port?: number): Value | undefined {
    const written = this.raw(annotation, port);
    if (written === undefined) return undefined;
    if (port !== undefined) return this.#valueOf(annotation, written, port);
    if (!this.#values.has(annotation.key)) this.#values.set(annotation.key, this.#valueOf(annotation, written));
    return this.#values.get(annotation.key) as Value | undefined;
  }

  #valueOf<Value>(annotation: Annotation<Value>, written: string, port?: number): Value | undefined {
    const subject = `${annotationKey(annotation, port)}: "${shortened(written)}"`;
    if (hasTooManyItems(written)) {
      this.reject("InvalidAnnotation", `${subject} has more than ${MOST_ITEMS} items between commas: name fewer`);
      return undefined;
    }
    const reading = annotation.kind.read(written);
    if ("problem" in reading) {
      this.reject("InvalidAnnotation", `${subject} ${reading.problem}`);
      return undefined;
    }
    if (reading.remark !== undefined) this.warn("InvalidAnnotation", `${subject} ${reading.remark}`);
    return reading.value;
  }

  isOn(annotation: Annotation<boolean>, port?: number): boolean {
    return this.get(annotation, port) ?? false;
  }

  reject(reason: WarningReason, message: string): void {
    this.#problems.push({ reason, message });
  }

  warn(reason: WarningReason, message: string): void {
    this.warnings.push({ reason, message });
  }

  /** For a key that is there and does nothing. */
  warnOfNoEffect(annotation: Annotation<unknown>, why: string): void {
    this.warn("AnnotationHasNoEffect", `${annotation.key} has no effect: ${why}`);
  }

  /** All problems in one, under the reason of the first. */
  get rejection(): Rejection | undefined {
    const [first] = this.#problems;
    if (first === undefined) return undefined;
    const message = mostTold(this.#problems)
      .map((problem) => problem.message)
      .join("; ");
    return { kind: "rejection", reason: first.reason, message };
  }
}

/** Each once, and of very many the first: an event is read by a person, and a Service may have thousands of ports. */
export function mostTold(warnings: readonly Warning[]): readonly Warning[] {
  const distinct = [...new Map(warnings.map((warning) => [warning.message, warning])).values()];
  const next = distinct[MOST_TOLD];
  if (next === undefined) return distinct;
  const message = `and ${distinct.length - MOST_TOLD} more like these`;
  return [...distinct.slice(0, MOST_TOLD), { reason: next.reason, message }];
}

/** Of a list: as many address ranges as Azure takes in one security rule. */
export const MOST_ITEMS = 4_000;

/** Of what is wrong with one Service. */
const MOST_TOLD = 40;

function hasTooManyItems(written: string): boolean {
  let items = 1;
  for (let at = written.indexOf(","); at !== -1 && items <= MOST_ITEMS; at = written.indexOf(",", at + 1)) items += 1;
  return items > MOST_ITEMS;
}

/** An event is a sentence or two; an annotation may be a quarter of a megabyte. */
const LONGEST_QUOTE = 200;

export function shortened(written: string): string {
  return written.length > LONGEST_QUOTE ? `${written.slice(0, LONGEST_QUOTE)}…` : written;
}

/** By port, then by the key with `{port}` in its place: there may be thousands of ports, with keys of their own. */
type PortAnnotations = ReadonlyMap<number, ReadonlyMap<string, string>>;

const PORT_START = `${PREFIX}port_`;

function portAnnotations(annotations: Annotations, keys: readonly string[]): PortAnnotations {
  const found = new Map<number, Map<string, string>>();
  for (const key of keys) {
    if (!key.startsWith(PORT_START)) continue;
    const end = key.indexOf("_", PORT_START.length);
    const port = Number(key.slice(PORT_START.length, end));
    const known = PORT_KEYS_BY_END.get(key.slice(end));
    if (known === undefined || annotationKey({ key: known }, port) !== key) continue;
    const ofPort = found.get(port) ?? new Map<string, string>();
    ofPort.set(known, annotations[key] ?? "");
    found.set(port, ofPort);
  }
  return found;
}

/** What follows the port in a key, and the key with `{port}` in its place. */
const PORT_KEYS_BY_END: ReadonlyMap<string, string> = new Map(
  Object.values(PORT_KEYS).map(({ key }) => [key.slice(key.indexOf("}") + 1), key]),
);

export function annotationKey(annotation: Pick<Annotation<unknown>, "key">, port?: number): string {
  return port === undefined ? annotation.key : annotation.key.replace("{port}", String(port));
}

const KNOWN: readonly string[] = GROUPS.flatMap((group) => group.annotations.map((annotation) => annotation.key));
const PLAIN = new Set(KNOWN.filter((key) => !key.includes("{port}")));
const EXPOSURE_KEYS = new Set(EXPOSURE.map(({ key }) => key));
const PORT_PATTERN = new RegExp(
  `^(?:${Object.values(PORT_KEYS)
    .map((annotation) => annotation.key.replaceAll(".", "\\.").replace("{port}", "(\\d+)"))
    .join("|")})$`,
);
/** Most keys of other tools are told by their domain, without a comparison with every known key. */
const DOMAINS = [...new Set(KNOWN.map((key) => key.slice(0, key.indexOf("/"))))];
const LONGEST = Math.max(...KNOWN.map((key) => key.length));
const LOOKS_LIKE_OURS = [`${PREFIX}azure-`, `${PREFIX}port_`];
/** So many wrong letters make a key under another prefix suspicious. */
const FEW_LETTERS = 2;
/** How many unknown keys of one Service are looked at, and told. */
const MOST_EXAMINED = 20;
/** How other clouds spell "internal": a Service moved from there would be public here. */
const INTERNAL_ELSEWHERE = new Set([
  "service.beta.kubernetes.io/aws-load-balancer-internal",
  "service.beta.kubernetes.io/aws-load-balancer-scheme",
  "networking.gke.io/load-balancer-type",
  "cloud.google.com/load-balancer-type",
  "service.beta.kubernetes.io/openstack-internal-load-balancer",
  "service.beta.kubernetes.io/oci-load-balancer-internal",
  "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type",
]);

interface UnknownAnnotations {
  readonly warnings: readonly Warning[];
  /** Near misses of keys that decide who can reach the Service. */
  readonly problems: readonly Warning[];
}

/**
 * Finds annotations that the user meant for us and that no part of the controller reads: misspelt keys, keys without
 * their prefix, keys of other clouds. Keys of other tools are left alone. Decides how loud each is; the work per Service
 * is bounded, since a user chooses how many keys there are.
 *
 *   key                                                     | leads to
 *   --------------------------------------------------------|--------------------------------------------------------
 *   near miss of a key that decides who can reach a Service | a refusal: to ignore it may expose the Service
 *   other key that looks like ours                          | a warning with the nearest known key
 *   known key without prefix; another cloud's "internal"    | a warning
 *   per-port key of a port that the Service has not         | a warning
 *
 * `ports`: the numbers that a per-port key may name.
 */
export function unknownAnnotations(keys: readonly string[], ports: readonly number[]): UnknownAnnotations {
  const portSet = new Set(ports);
  const candidates = keys.filter((key) => !PLAIN.has(key) && isCandidate(key, portSet)).sort();
  const findings = candidates.slice(0, MOST_EXAMINED).flatMap((key) => examine(key, ports) ?? []);
  const toWarning = ({ message }: Finding): Warning => ({ reason: "UnknownAnnotation", message });
  const problems = findings.filter(({ decidesExposure }) => decidesExposure).map(toWarning);
  const warnings = findings.filter(({ decidesExposure }) => !decidesExposure).map(toWarning);
  const rest = candidates.length - MOST_EXAMINED;
  if (rest > 0) {
    const message = `${rest} more annotations look like ones of azlb and are unknown to it; they are ignored`;
    warnings.push({ reason: "UnknownAnnotation", message });
  }
  return { warnings, problems };
}

/** Cheap: done for every key of every Service. */
function isCandidate(key: string, ports: ReadonlySet<number>): boolean {
  const port = portIn(key);
  if (port !== undefined) return !ports.has(Number(port));
  if (INTERNAL_ELSEWHERE.has(key) || PLAIN.has(PREFIX + key)) return true;
  if (LOOKS_LIKE_OURS.some((start) => key.toLowerCase().startsWith(start))) return true;
  const [domain = "", name] = key.split("/");
  const isOurs = (known: string): boolean => (name === undefined ? key.startsWith(known) : isSlipOf(domain, known));
  return isShort(key) && (DOMAINS.includes(domain) || DOMAINS.some(isOurs));
}

/** A longer one is no misspelt known key. */
function isShort(key: string): boolean {
  return key.length <= LONGEST + FEW_LETTERS;
}

interface Finding {
  readonly message: string;
  readonly decidesExposure: boolean;
}

/** `undefined`: on a closer look, another tool's. */
function examine(key: string, ports: readonly number[]): Finding | undefined {
  const harmless = (message: string): Finding => ({ message, decidesExposure: false });
  const port = portIn(key);
  if (port !== undefined) {
    return harmless(`${key} names port ${port}, which the Service does not have; it has ${ports.join(", ")}`);
  }
  if (INTERNAL_ELSEWHERE.has(key)) {
    const fix = `for an internal Service set ${PLACEMENT.internal.key}: "true"`;
    return harmless(`${key} is another cloud's and has no effect here: ${fix}`);
  }
  if (PLAIN.has(PREFIX + key)) {
    return harmless(`${key} has no effect without its prefix: did you mean ${PREFIX + key}?`);
  }
  if (!isSuspicious(key)) return undefined;
  const isPortKey = key.toLowerCase().startsWith(`${PREFIX}port`);
  const meant = closestMatch(isPortKey ? withPlaceholder(key) : key, KNOWN) ?? "";
  const text = `unknown annotation ${key}: did you mean ${meant}`;
  const isUnderPrefix = key.toLowerCase().startsWith(PREFIX);
  if (!isUnderPrefix || !EXPOSURE_KEYS.has(meant) || !isNearMiss(key, meant)) return harmless(`${text}?`);
  return { message: `${text}, which decides who can reach the Service: correct or remove it`, decidesExposure: true };
}

function isSuspicious(key: string): boolean {
  if (LOOKS_LIKE_OURS.some((start) => key.toLowerCase().startsWith(start))) return true;
  return [key, withPlaceholder(key)].some((form) => KNOWN.some((known) => isSlipOf(form, known)));
}

function portIn(key: string): string | undefined {
  return PORT_PATTERN.exec(key)?.slice(1).find(Boolean);
}

function isSlipOf(key: string, known: string): boolean {
  return editDistance(known, key, FEW_LETTERS) <= FEW_LETTERS;
}

/** As a per-port key is listed. */
function withPlaceholder(key: string): string {
  return key.replace(/\d+(?=[^/]*$)/, "{port}");
}
