/**
 * Services as lines of a list, those that need a person first, and how many there are of each. A list is cut into pages:
 * thousands of Services are counted and sorted, and only those of the page are rendered.
 */
import { serviceKey, type Service } from "../model/kubernetes.ts";
import { parseService } from "../intent/parse-service.ts";
import { fixOf } from "./fix.ts";
import type { Picture } from "./picture.ts";
import {
  type Attention,
  ATTENTIONS,
  attentionOf,
  isDrifted,
  SERVICE_STATES,
  type ServiceState,
  type Standing,
} from "./standing.ts";

export interface ServiceLine {
  readonly namespace: string;
  readonly name: string;
  readonly state: ServiceState;
  readonly attention: Attention;
  /** Of an event (docs/events.md). */
  readonly reason?: string;
  readonly message?: string;
  /** ISO 8601: since when it is served, or is not. */
  readonly since: string;
  readonly nextTry?: string;
  /** Azure told the controller to wait, and nothing else holds it up. */
  readonly throttledUntil?: string;
  readonly fix?: string;
  readonly isDrifted: boolean;
  readonly warnings: number;
  /** Absent where the Service does not say so validly. */
  readonly scope?: "internal" | "external";
  readonly addresses: readonly string[];
  /** As in `80/TCP`. */
  readonly ports: readonly string[];
}

export interface ServicePage {
  /** That fit the filter. */
  readonly total: number;
  readonly offset: number;
  readonly items: readonly ServiceLine[];
}

export interface ServiceFilter {
  readonly namespace?: string | undefined;
  readonly state?: ServiceState | undefined;
  readonly attention?: Attention | undefined;
  readonly isDrifted?: boolean | undefined;
  /** A part of `namespace/name`, or an address. */
  readonly search?: string | undefined;
  readonly offset: number;
  readonly limit: number;
}

export interface ServiceCounts {
  readonly total: number;
  readonly attention: Readonly<Record<Attention, number>>;
  readonly state: Readonly<Record<ServiceState, number>>;
  readonly drifted: number;
}

/** A Service that the controller has not looked at yet waits for that. */
const UNSEEN: Omit<Standing, "sinceMs"> = { state: "pending", message: "the controller has not looked at it yet" };

export function standingOf({ standings }: Pick<Picture, "standings">, service: Service): Standing {
  const known = standings.get(serviceKey(service));
  if (known !== undefined) return known;
  return { ...UNSEEN, sinceMs: Date.parse(service.metadata.creationTimestamp ?? "") || 0 };
}

export function countServices(picture: Picture): ServiceCounts {
  const attention = Object.fromEntries(ATTENTIONS.map((each) => [each, 0])) as Record<Attention, number>;
  const state = Object.fromEntries(SERVICE_STATES.map((each) => [each, 0])) as Record<ServiceState, number>;
  let drifted = 0;
  for (const service of picture.services) {
    const standing = standingOf(picture, service);
    attention[attentionOf(standing)] += 1;
    state[standing.state] += 1;
    if (isDrifted(standing)) drifted += 1;
  }
  return { total: picture.services.length, attention, state, drifted };
}

export function listServices(picture: Picture, filter: ServiceFilter): ServicePage {
  const search = filter.search?.toLowerCase() ?? "";
  const found = picture.services
    .map((service) => ({ service, standing: standingOf(picture, service) }))
    .filter(
      ({ service, standing }) =>
        (filter.namespace === undefined || service.metadata.namespace === filter.namespace) &&
        (filter.state === undefined || standing.state === filter.state) &&
        (filter.attention === undefined || attentionOf(standing) === filter.attention) &&
        (filter.isDrifted === undefined || isDrifted(standing) === filter.isDrifted) &&
        (search === "" ||
          serviceKey(service).includes(search) ||
          addressesOf(service).some((ip) => ip.includes(search))),
    )
    .map((each) => ({ ...each, rank: ATTENTIONS.indexOf(attentionOf(each.standing)), key: serviceKey(each.service) }))
    .sort((one, other) => one.rank - other.rank || NATURAL.compare(one.key, other.key));
  const page = found.slice(filter.offset, filter.offset + filter.limit);
  return {
    total: found.length,
    offset: filter.offset,
    items: page.map(({ service, standing }) => lineOf(picture, service, standing)),
  };
}

/** `s2` comes before `s10`. */
const NATURAL = new Intl.Collator("en", { numeric: true });

export function lineOf({ config }: Pick<Picture, "config">, service: Service, standing: Standing): ServiceLine {
  const parsed = parseService(service, config);
  const { state, reason, message, sinceMs, nextTryMs, warnings = [], isThrottled = false } = standing;
  const fix = fixOf(service, standing);
  return {
    namespace: service.metadata.namespace ?? "default",
    name: service.metadata.name,
    state,
    attention: attentionOf(standing),
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    since: timeOf(sinceMs),
    ...(nextTryMs !== undefined && { nextTry: timeOf(nextTryMs) }),
    ...(isThrottled && nextTryMs !== undefined && { throttledUntil: timeOf(nextTryMs) }),
    ...(fix !== undefined && { fix }),
    isDrifted: isDrifted(standing),
    warnings: warnings.length,
    ...("intent" in parsed && { scope: parsed.intent.scope }),
    addresses: addressesOf(service),
    ports: service.spec.ports.map(({ port, protocol }) => `${port}/${protocol}`),
  };
}

export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

function addressesOf({ status }: Service): string[] {
  return (status.loadBalancer.ingress ?? []).flatMap(({ ip, hostname }) => ip ?? hostname ?? []);
}
