/**
 * Who may reach a Service. Ranges that are none open nothing, and close the Service to every source that is not named:
 * a typing error must not expose it.
 */
import type { Family } from "../model/arm.ts";
import { aggregate, type Cidr, formatCidr, parseCidr } from "../util/cidr.ts";
import type { WarningReason } from "../events/event-reasons.ts";
import type { Service } from "../model/kubernetes.ts";
import { type AnnotationReader, MOST_ITEMS } from "./annotation-reader.ts";
import { ACCESS } from "./annotations/access.ts";
import type { Annotation } from "./annotations/annotation.ts";
import type { AccessIntent, ServiceIntent } from "./service-intent.ts";

export function parseAccess(
  service: Service,
  scope: ServiceIntent["scope"],
  read: AnnotationReader,
): Omit<AccessIntent, "destinations"> {
  const { loadBalancerSourceRanges: given = [] } = service.spec;
  const fromSpec = parseRanges(given.slice(0, MOST_ITEMS));
  if (given.length > MOST_ITEMS) {
    const message = `spec.loadBalancerSourceRanges has ${given.length} ranges, more than ${MOST_ITEMS}: name fewer`;
    read.reject("InvalidSourceRanges", message);
  }
  let left = MOST_ITEMS - Math.min(given.length, MOST_ITEMS);
  const annotated = [ACCESS.ipRanges, ACCESS.sourceRanges].map((annotation) => {
    const ranges = rangesOf(annotation, left, read);
    left -= ranges.valid.length + ranges.invalid.length;
    return ranges;
  });
  const fromAnnotations = annotated.flatMap((ranges) => ranges.valid);
  const serviceTags = parseServiceTags(read);
  warnOfInvalid("InvalidSourceRanges", "spec.loadBalancerSourceRanges", fromSpec, read);
  checkConflicts(fromSpec.valid, fromAnnotations, serviceTags, read);

  const valid = [...fromSpec.valid, ...fromAnnotations];
  const hasInvalid = [fromSpec, ...annotated].some((ranges) => ranges.invalid.length > 0);
  const ranges = { IPv4: aggregated(valid, "IPv4"), IPv6: aggregated(valid, "IPv6") };
  const opensAll = [...ranges.IPv4, ...ranges.IPv6].some((range) => range.endsWith("/0"));
  const denyAllExcept = read.isOn(ACCESS.denyAllExcept);
  if (denyAllExcept && valid.length === 0 && !hasInvalid) {
    read.warnOfNoEffect(ACCESS.denyAllExcept, "no source range is given, so there is nothing to except");
  }
  return {
    ranges,
    serviceTags,
    allowFromInternet:
      serviceTags.length === 0 && !hasInvalid && (valid.length === 0 ? scope === "external" : opensAll),
    denyOthers: (denyAllExcept && valid.length > 0) || hasInvalid,
    unmanaged: read.isOn(ACCESS.disableNsgRule),
    ownRules: read.get(ACCESS.sharedSecurityRule) === "false",
  };
}

interface Ranges {
  readonly valid: readonly Cidr[];
  readonly invalid: readonly string[];
}

function parseRanges(items: readonly string[]): Ranges {
  const valid: Cidr[] = [];
  const invalid: string[] = [];
  for (const item of items) {
    const parsed = parseCidr(item.trim());
    if ("problem" in parsed) invalid.push(`"${item.trim()}" ${parsed.problem}`);
    else valid.push(parsed);
  }
  return { valid, invalid };
}

/** `most`: so many are left for it of those that a Service may name in all. */
function rangesOf(annotation: Annotation<readonly string[]>, most: number, read: AnnotationReader): Ranges {
  const items = read.get(annotation) ?? [];
  if (items.length > most) {
    const message = `${annotation.key} brings the source ranges of the Service to more than ${MOST_ITEMS}: name fewer`;
    read.reject("InvalidAnnotation", message);
  }
  const ranges = parseRanges(items.slice(0, most));
  warnOfInvalid("InvalidAllowedIPRanges", annotation.key, ranges, read);
  return ranges;
}

function warnOfInvalid(reason: WarningReason, subject: string, { invalid }: Ranges, read: AnnotationReader): void {
  if (invalid.length === 0) return;
  read.warn(reason, `${subject}: ${invalid.join("; ")}. It opens nothing, and whoever is not allowed is denied`);
}

function aggregated(ranges: readonly Cidr[], family: Family): string[] {
  return aggregate(ranges.filter((range) => range.family === family)).map(formatCidr);
}

/** In the order they are written: priorities follow it. */
function parseServiceTags(read: AnnotationReader): readonly string[] {
  const written = read.get(ACCESS.serviceTags);
  if (written === undefined) return [];
  const tags = [...new Set(written.filter((tag) => tag !== ""))];
  const wrong = tags.filter((tag) => /\s/.test(tag));
  if (tags.length === 0) {
    read.reject("InvalidAnnotation", `${ACCESS.serviceTags.key}: "" names no service tag: name one or remove the key`);
  }
  for (const tag of wrong) {
    read.reject("InvalidAnnotation", `${ACCESS.serviceTags.key}: "${tag}" is no service tag such as AzureCloud`);
  }
  return tags;
}

function checkConflicts(
  fromSpec: readonly Cidr[],
  fromAnnotations: readonly Cidr[],
  serviceTags: readonly string[],
  read: AnnotationReader,
): void {
  if (fromSpec.length > 0 && fromAnnotations.length > 0) {
    read.reject(
      "ConflictConfiguration",
      `spec.loadBalancerSourceRanges and ${ACCESS.ipRanges.key} (or ${ACCESS.sourceRanges.key}) are both given: ` +
        "keep one of them",
    );
  }
  if (fromSpec.length > 0 && serviceTags.length > 0) {
    read.warn(
      "ConflictConfiguration",
      `spec.loadBalancerSourceRanges and ${ACCESS.serviceTags.key} are both given: both are allowed`,
    );
  }
}
