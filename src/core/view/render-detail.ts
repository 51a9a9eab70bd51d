/**
 * One Service for a terminal: where it stands, as the controller says it, and the way of a packet to it. `azlb explain` prints
 * the way also where it looked itself, and says then by a plan where the Service stands (`plan/explain.ts`).
 */
import { pluralize } from "../util/text.ts";
import type { ServiceDetail } from "./service-detail.ts";
import type { FrontendView, PoolView } from "./service-paths.ts";

type Way = Pick<ServiceDetail, "frontends" | "pools" | "access" | "trouble" | "sourceRanges" | "externalTrafficPolicy">;

export function renderDetail(detail: ServiceDetail, nowMs: number): string[] {
  const { namespace, name, state, addresses, scope, ports, differences, fix, throttledUntil } = detail;
  return [
    ...(throttledUntil === undefined ? [] : [line("throttled", `Azure throttles until ${throttledUntil}`)]),
    ...problemLines(detail),
    line("Service", `${namespace}/${name}`),
    line("asks for", `${scope === undefined ? "an" : `an ${scope}`} address, port ${ports.join(", ")}`),
    line("published", addresses.join(", ") || "no address yet"),
    line("stands", standText(detail, nowMs)),
    ...(differences === undefined ? [] : [line("differs", differences)]),
    ...(state === "served" ? [] : detail.remarks.map(({ message }) => line("ignored", message))),
    ...renderWay(detail),
    ...(fix === undefined || fix.startsWith("azlb explain") ? [] : [line("to do", fix)]),
  ];
}

/** Refused or failing, where time alone does not change it. */
export function isStuck({ state, attention }: Pick<ServiceDetail, "state" | "attention">): boolean {
  return attention === "needsYou" && state !== "served";
}

function problemLines(detail: ServiceDetail): string[] {
  const { state, reason, message, isDrifted } = detail;
  if (message === undefined) return [];
  const label = isDrifted ? "drifted" : state === "refused" ? "refused" : isStuck(detail) ? "failed" : "waits";
  return [line(label, reason === undefined ? message : `${reason}: ${message}`)];
}

function standText(detail: ServiceDetail, nowMs: number): string {
  const { state, since, nextTry, remarks, isDrifted } = detail;
  const forText = `for ${ageText(nowMs - Date.parse(since))}`;
  const next =
    nextTry === undefined
      ? ""
      : `, next try ${Date.parse(nextTry) > nowMs ? `in ${ageText(Date.parse(nextTry) - nowMs)}` : "now"}`;
  if (state !== "served") return `${state} ${forText}${next}`;
  if (isDrifted) return `served ${forText}, but Azure was changed under it`;
  if (remarks.length === 0) return `served ${forText}: everything is as it asks`;
  return `works, but ignored: ${remarks.map(({ message }) => message).join("; ")}`;
}

export function ageText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** The way of a packet, who may send one, and why none gets through where that is known. */
export function renderWay({ frontends, pools, access, trouble, sourceRanges, externalTrafficPolicy }: Way): string[] {
  const open = access.filter((rule) => rule.access === "Allow");
  const isLocal = externalTrafficPolicy === "Local";
  return [
    ...trouble.map((text) => line("trouble", text)),
    ...frontends.flatMap(frontendLines),
    ...pools.map((pool) => line("pool", poolText(pool, isLocal))),
    ...(sourceRanges.length === 0 ? [] : [line("sources", `asks to be open to ${sourceRanges.join(", ")} alone`)]),
    ...open.map(({ sources, ports, protocol, rule, priority, isForeign }) => {
      const whose = isForeign ? ", not the controller's" : "";
      return line(
        "open to",
        `${sources.join(", ")} on ${ports.join(", ")} ${protocol} (${rule}, priority ${priority}${whose})`,
      );
    }),
  ];
}

function frontendLines({ loadBalancer, name, address, publicIP, rules, others }: FrontendView): string[] {
  const place = `load balancer ${loadBalancer}, frontend ${name}`;
  const shared = others.length === 0 ? "" : `, shared with ${others.join(", ")}`;
  return [
    line(
      "at",
      `${address ?? "no address"}: ${place}${publicIP === undefined ? "" : `, public IP ${publicIP}`}${shared}`,
    ),
    ...rules.map(({ port, protocol, pool = "no pool", backendPort, keepsAddress, probe }) => {
      const to = keepsAddress || backendPort === undefined ? "" : ` at port ${backendPort}`;
      return line(
        "rule",
        `${port === 0 ? "all ports" : `${port}/${protocol}`} to pool ${pool}${to}${probe === undefined ? "" : `, probe ${probe}`}`,
      );
    }),
  ];
}

const MOST_NAMED = 5;

function poolText({ name, counts, members }: PoolView, isLocal: boolean): string {
  const down = members.filter(({ adminState }) => adminState === "Down");
  const named = down.slice(0, MOST_NAMED).map((one) => `${one.name}${one.drain ? ` (${one.drain.join(", ")})` : ""}`);
  const more = counts.down > named.length ? ` and ${counts.down - named.length} more` : "";
  const watched = members.filter(({ hasEndpoint }) => hasEndpoint !== undefined);
  const behind = watched.filter(({ hasEndpoint }) => hasEndpoint === true).map((one) => one.name);
  const endpoints =
    behind.length === 0
      ? "none of them"
      : behind.length === watched.length
        ? "all"
        : behind.slice(0, MOST_NAMED).join(", ");
  return [
    `${name}: ${pluralize(counts.members, "member")}`,
    ...(counts.down > 0 ? [`${counts.down} Down: ${named.join(", ")}${more}`] : []),
    ...(counts.foreign > 0 ? [`${counts.foreign} not of this cluster`] : []),
    ...(watched.length > 0
      ? [`ready endpoints on ${endpoints}${isLocal ? ", and only these answer (Local)" : ""}`]
      : []),
  ].join("; ");
}

export function line(label: string, text: string): string {
  return `${label.padEnd(12)}${text}`;
}
