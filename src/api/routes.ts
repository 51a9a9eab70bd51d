/**
 * The paths of the API: what each one asks the caller to be allowed to see, and the view that answers. Everything but what probes
 * have found is read from memory, and every list has a page, so that one request is bounded work. `openapi.ts` describes the same paths.
 */
import { parseAddress } from "../core/util/cidr.ts";
import { balancersOf, securityGroupView, tightestQuota } from "../core/view/balancers.ts";
import { listNodes } from "../core/view/node-list.ts";
import type { Picture } from "../core/view/picture.ts";
import { findingsOf, probedRules, probesView } from "../core/view/probe-findings.ts";
import { reachView } from "../core/view/reach-view.ts";
import { detailOf, findService } from "../core/view/service-detail.ts";
import { countServices, listServices } from "../core/view/service-list.ts";
import { ATTENTIONS, SERVICE_STATES } from "../core/view/standing.ts";
import { unservedText } from "../core/view/unserved.ts";
import { writeView } from "../core/view/write-view.ts";
import type { LiveView } from "./api-source.ts";
import type { Scope } from "./authorizer.ts";

interface RouteRequest {
  /** The parts of the path that the route leaves open. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  /** Whether the caller may see everything, not only what the route asks for. */
  readonly seesAll: boolean;
}

export interface Route {
  /** As in OpenAPI. */
  readonly path: string;
  readonly scope: (request: Pick<RouteRequest, "parts" | "query">) => Scope;
  /** Only the leader knows. */
  readonly needsLeader: boolean;
  readonly answer: (live: LiveView, request: RouteRequest, picture: Picture) => unknown;
}

/** What a caller asked for is not there, or is not valid: an answer of that status. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const EVERYTHING: Route["scope"] = () => ({});
const MOST_ITEMS = 500;

export const ROUTES: readonly Route[] = [
  {
    path: "/api/v1/services",
    scope: ({ query }) => {
      const namespace = query.get("namespace");
      return namespace === null ? {} : { namespace };
    },
    needsLeader: true,
    answer: (_live, { query }, picture) =>
      listServices(picture, {
        namespace: query.get("namespace") ?? undefined,
        state: oneOf(query, "state", SERVICE_STATES),
        attention: oneOf(query, "attention", ATTENTIONS),
        isDrifted: oneOf(query, "drifted", ["true"]) === undefined ? undefined : true,
        search: query.get("search") ?? undefined,
        ...pageOf(query),
      }),
  },
  {
    path: "/api/v1/services/{namespace}/{name}",
    scope: ({ parts: [namespace = "", name = ""] }) => ({ namespace, name }),
    needsLeader: true,
    answer: ({ source }, { parts, query, seesAll }, picture) =>
      detailOf(picture, serviceOf(picture, parts), source.driftPolicy, {
        showsOthers: seesAll,
        mostMembers: numberOf(query, "members", 100, 5_000),
      }),
  },
  {
    path: "/api/v1/services/{namespace}/{name}/reach",
    scope: ({ parts: [namespace = "", name = ""] }) => ({ namespace, name }),
    needsLeader: true,
    answer: (_live, { parts, query }, picture) => {
      const from = parseAddress(query.get("from") ?? "");
      if (from === undefined) throw new ApiError(400, `from is "${query.get("from")}"; it must be an IP address`);
      const port = query.has("port") ? numberOf(query, "port", 0, 65_535) : undefined;
      return { items: reachView(picture, serviceOf(picture, parts), { from, port }) };
    },
  },
  {
    path: "/api/v1/services/{namespace}/{name}/probes",
    scope: ({ parts: [namespace = "", name = ""] }) => ({ namespace, name }),
    needsLeader: true,
    answer: async ({ source }, { parts }, picture) => {
      const rules = probedRules(picture.loadBalancers, serviceOf(picture, parts));
      const answers = await Promise.all(rules.map(({ id }) => source.probeResult(id)));
      return probesView(rules.map((rule, at) => findingsOf(rule, answers[at], picture.nodes)));
    },
  },
  {
    path: "/api/v1/nodes",
    scope: EVERYTHING,
    needsLeader: true,
    answer: (_live, { query }, picture) =>
      listNodes(picture, { search: query.get("search") ?? undefined, ...pageOf(query) }),
  },
  {
    path: "/api/v1/loadbalancers",
    scope: EVERYTHING,
    needsLeader: true,
    answer: (_live, _request, picture) => {
      const securityGroup = securityGroupView(picture);
      return { items: balancersOf(picture), ...(securityGroup && { securityGroup }) };
    },
  },
  {
    path: "/api/v1/writes",
    scope: EVERYTHING,
    needsLeader: true,
    answer: ({ source }, { query }) => {
      const { sequence, writes } = source.writes(numberOf(query, "limit", 50, 200));
      return { sequence, items: writes.map((write, at) => writeView(write, sequence - at)) };
    },
  },
];

/** The only answer of a process that does not lead. */
export const OVERVIEW: Route = {
  path: "/api/v1/overview",
  scope: EVERYTHING,
  needsLeader: false,
  answer: (live) => overviewOf(live),
};

export function overviewOf(live: LiveView): object {
  const { source, picture, revision } = live;
  const head = {
    version: source.version,
    cluster: source.clusterName,
    now: new Date(source.clock.nowMs()).toISOString(),
    revision,
    leader: source.leader(),
    isReady: source.isReady(),
  };
  if (picture === undefined) return head;
  const quota = tightestQuota(picture);
  return {
    ...head,
    ...(picture.unready !== undefined && { unready: picture.unready }),
    notices: picture.notices ?? [],
    services: countServices(picture),
    nodes: { total: picture.nodes.length, draining: listNodes(picture, { offset: 0, limit: 0 }).draining },
    throttle: source.throttle(),
    ...(quota && { quota }),
    writes: source.writes(0).sequence,
  };
}

/** The route of a path, and the parts that it leaves open. */
export function findRoute(path: string): { readonly route: Route; readonly parts: string[] } | undefined {
  const segments = path.split("/");
  for (const route of [OVERVIEW, ...ROUTES]) {
    const wanted = route.path.split("/");
    if (wanted.length !== segments.length) continue;
    const parts: string[] = [];
    const fits = wanted.every((segment, at) => {
      if (!segment.startsWith("{")) return segment === segments[at];
      parts.push(decoded(segments[at] ?? ""));
      return segments[at] !== "";
    });
    if (fits) return { route, parts };
  }
  return undefined;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new ApiError(400, `"${segment}" in the path is not encoded correctly`);
  }
}

function serviceOf(picture: Picture, [namespace = "", name = ""]: readonly string[]): Picture["services"][number] {
  const found = findService(picture, `${namespace}/${name}`);
  if (found !== undefined) return found;
  const key = `${namespace}/${name}`;
  throw new ApiError(404, unservedText(key, picture.findAny(key)));
}

function pageOf(query: URLSearchParams): { offset: number; limit: number } {
  return { offset: numberOf(query, "offset", 0, 1_000_000), limit: numberOf(query, "limit", 100, MOST_ITEMS) };
}

function numberOf(query: URLSearchParams, key: string, byDefault: number, most: number): number {
  const text = query.get(key);
  if (text === null) return byDefault;
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= most) return value;
  throw new ApiError(400, `${key} is "${text}"; it must be a number from 0 to ${most}`);
}

function oneOf<Value extends string>(query: URLSearchParams, key: string, values: readonly Value[]): Value | undefined {
  const text = query.get(key);
  if (text === null || text === "") return undefined;
  const found = values.find((value) => value === text);
  if (found === undefined) throw new ApiError(400, `${key} is "${text}"; it must be one of ${values.join(", ")}`);
  return found;
}
