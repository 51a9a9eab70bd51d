/** `azlb explain` by the controller's own word: asks the read-only API, and renders what it says. */
import type { BalancerView } from "../core/view/balancers.ts";
import type { NodePage } from "../core/view/node-list.ts";
import { isStuck, line, renderDetail } from "../core/view/render-detail.ts";
import { renderBalancer, renderNode, renderServices } from "../core/view/render-lists.ts";
import type { ServiceDetail } from "../core/view/service-detail.ts";
import type { ServiceLine, ServicePage } from "../core/view/service-list.ts";
import { type ApiAccess, ApiRefusal } from "./api-access.ts";
import type { Explanation } from "./explain-service.ts";

/** What the user names; a Service by its key. */
export type Subject =
  | { readonly kind: "all"; readonly namespace: string }
  | { readonly kind: "service"; readonly key: string }
  | { readonly kind: "node"; readonly name: string }
  | { readonly kind: "loadBalancer"; readonly name: string };

export async function explainByApi(api: ApiAccess, subject: Subject, nowMs: number): Promise<Explanation> {
  const { lines, isFailing } = await explained(api, subject, nowMs);
  return { text: [...lines, line("told by", `the controller (${api.where})`), ""].join("\n"), isFailing };
}

interface Explained {
  readonly lines: readonly string[];
  readonly isFailing: boolean;
}

async function explained(api: ApiAccess, subject: Subject, nowMs: number): Promise<Explained> {
  switch (subject.kind) {
    case "all":
      return explainAll(api, subject.namespace);
    case "service": {
      const detail = await api.get<ServiceDetail>(`/api/v1/services/${subject.key}`);
      return { lines: renderDetail(detail, nowMs), isFailing: isStuck(detail) };
    }
    case "node": {
      const { items } = await api.get<NodePage>(`/api/v1/nodes?search=${encodeURIComponent(subject.name)}`);
      const node = items.find(({ name }) => name === subject.name);
      if (node === undefined) throw new ApiRefusal(404, `there is no Node ${subject.name}`);
      return { lines: renderNode(node), isFailing: false };
    }
    case "loadBalancer": {
      const { items } = await api.get<{ items: readonly BalancerView[] }>("/api/v1/loadbalancers");
      const balancer = items.find(({ name }) => name.toLowerCase() === subject.name.toLowerCase());
      if (balancer !== undefined) return { lines: renderBalancer(balancer), isFailing: false };
      const names = items.map(({ name }) => name).join(", ") || "none";
      throw new ApiRefusal(404, `there is no load balancer ${subject.name}; there are: ${names}`);
    }
  }
}

/** Who may not see the whole cluster is told of its namespace. */
async function explainAll(api: ApiAccess, namespace: string): Promise<Explained> {
  const own = `&namespace=${encodeURIComponent(namespace)}`;
  const [scope, where] = await api.get<ServicePage>("/api/v1/services?limit=0").then(
    () => ["", ""] as const,
    (error: unknown) => {
      if (error instanceof ApiRefusal && error.status === 403) return [own, ` in namespace ${namespace}`] as const;
      throw error;
    },
  );
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
