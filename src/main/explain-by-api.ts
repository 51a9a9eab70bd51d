/** `azlb explain` by the controller's own word: asks the read-only API, and renders what it says. */
import type { BalancerView } from "../core/view/balancers.ts";
import type { NodePage } from "../core/view/node-list.ts";
import { type ProbesView, renderProbes } from "../core/view/probe-findings.ts";
import { isStuck, line, renderDetail } from "../core/view/render-detail.ts";
import { renderBalancer, renderNode, renderServices } from "../core/view/render-lists.ts";
import type { ServiceDetail } from "../core/view/service-detail.ts";
import type { ServiceLine, ServicePage } from "../core/view/service-list.ts";
import { type ApiAccess, ApiRefusal } from "./api-access.ts";
import type { Explanation } from "./explain-service.ts";

/** What the user names; a Service by its key. */
export type Subject =
  | {
      readonly kind: "all";
      readonly namespace: string;
      /** `visible`: all that the caller may see, else those of the namespace. */
      readonly extent: "all" | "namespace" | "visible";
    }
  | { readonly kind: "service"; readonly key: string }
  | { readonly kind: "node"; readonly name: string }
  | { readonly kind: "loadBalancer"; readonly name: string };

export async function explainByApi(api: ApiAccess, subject: Subject, nowMs: number): Promise<Explanation> {
  const { lines, data, isFailing } = await explained(api, subject, nowMs);
  const toldBy = `the controller (${api.where})`;
  return { text: [...lines, line("told by", toldBy), ""].join("\n"), data: { ...data, toldBy }, isFailing };
}

interface Explained {
  readonly lines: readonly string[];
  readonly data: object;
  readonly isFailing: boolean;
}

async function explained(api: ApiAccess, subject: Subject, nowMs: number): Promise<Explained> {
  switch (subject.kind) {
    case "all":
      return explainAll(api, subject);
    case "service": {
      const detail = await api.get<ServiceDetail>(`/api/v1/services/${subject.key}`);
      const probes = await api.get<ProbesView>(`/api/v1/services/${subject.key}/probes`).catch(notAsked);
      const lines = [...renderDetail(detail, nowMs), ...renderProbes(probes)];
      return { lines, data: { ...detail, probes: probes.items }, isFailing: isStuck(detail) };
    }
    case "node": {
      const { items } = await api.get<NodePage>(`/api/v1/nodes?search=${encodeURIComponent(subject.name)}`);
      const node = items.find(({ name }) => name === subject.name);
      if (node === undefined) throw new ApiRefusal(404, `there is no Node ${subject.name}`);
      return { lines: renderNode(node), data: node, isFailing: false };
    }
    case "loadBalancer": {
      const { items } = await api.get<{ items: readonly BalancerView[] }>("/api/v1/loadbalancers");
      const balancer = items.find(({ name }) => name.toLowerCase() === subject.name.toLowerCase());
      if (balancer !== undefined) return { lines: renderBalancer(balancer), data: balancer, isFailing: false };
      const names = items.map(({ name }) => name).join(", ") || "none";
      throw new ApiRefusal(404, `there is no load balancer ${subject.name}; there are: ${names}`);
    }
  }
}

/** A controller of an earlier version has no such path. */
function notAsked(error: unknown): ProbesView {
  if (error instanceof ApiRefusal) return { items: [], trouble: [] };
  throw error;
}

/** Who may not see the whole cluster, and did not ask for it, is told of its namespace. */
async function scopeOf(
  api: ApiAccess,
  { namespace, extent }: Extract<Subject, { kind: "all" }>,
): Promise<readonly [query: string, where: string]> {
  const own = [`&namespace=${encodeURIComponent(namespace)}`, ` in namespace ${namespace}`] as const;
  if (extent === "namespace") return own;
  try {
    await api.get<ServicePage>("/api/v1/services?limit=0");
    return ["", ""];
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === 403 && extent === "visible") return own;
    throw error;
  }
}

async function explainAll(api: ApiAccess, subject: Extract<Subject, { kind: "all" }>): Promise<Explained> {
  const [scope, where] = await scopeOf(api, subject);
  const { total } = await api.get<ServicePage>(`/api/v1/services?limit=0${scope}`);
  const unsettled = [
    ...(await allPages(api, `/api/v1/services?attention=needsYou${scope}`)),
    ...(await allPages(api, `/api/v1/services?attention=inProgress${scope}`)),
  ];
  const unready = scope === "" ? (await api.get<{ unready?: string }>("/api/v1/overview")).unready : undefined;
  const held = unready === undefined ? [] : [`held: the controller writes nothing: ${unready}`];
  const lines = renderServices(unsettled, total - unsettled.length);
  const last = lines.at(-1) ?? "";
  return {
    lines: [...held, ...lines.slice(0, -1), `${last}${where}`],
    data: { held: unready === undefined ? [] : [unready], items: unsettled, settled: total - unsettled.length },
    isFailing: held.length > 0 || unsettled.some(isStuck),
  };
}

const PAGE = 500;

async function allPages(api: ApiAccess, path: string): Promise<ServiceLine[]> {
  const found: ServiceLine[] = [];
  for (;;) {
    const { items, total } = await api.get<ServicePage>(`${path}&limit=${PAGE}&offset=${found.length}`);
    found.push(...items);
    if (items.length === 0 || found.length >= total) return found;
  }
}
