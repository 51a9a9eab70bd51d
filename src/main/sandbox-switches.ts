/**
 * The switches of the sandbox's page: each breaks or changes something as a user, another client or Azure would, through the
 * control endpoints and the Kubernetes API, so that the page shows how the controller deals with it.
 */
import type { Switches } from "../api/api-server.ts";
import { ApiError } from "../api/routes.ts";
import { DRAIN_TAINT, isDraining } from "../core/admin-state/reconcile-admin-state.ts";
import { baseOf, isServiceBase } from "../core/model/names.ts";
import { projectNode } from "../controller/projections.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { EVENTS, NODES, SERVICES } from "../kube/client/resources.ts";
import { openKubeClient } from "./kube-access.ts";
import { realClock } from "./real-clock.ts";
import { ensureEndpoints } from "./sandbox-endpoints.ts";

interface SwitchOptions {
  readonly kubeconfig: string;
  readonly azureControlUrl: string;
  /** Makes the controller compare Azure now, which it does by itself only now and then. */
  readonly lookAgain: () => void;
}

interface Switch {
  readonly label: string;
  readonly hint: string;
  /** Answers what it did. */
  readonly flip: (options: SwitchOptions, kube: KubeClient) => Promise<string>;
}

const THROTTLE_SECONDS = 20;
const BROKEN = "service.beta.kubernetes.io/azure-load-balancer-internal";

const SWITCHES: Readonly<Record<string, Switch>> = {
  add: {
    label: "Add 10 Services",
    hint: "ten more Services of type LoadBalancer, which leave in a few writes",
    flip: async (_options, kube) => {
      const tag = Math.random().toString(36).slice(2, 6);
      await Promise.all(Array.from({ length: 10 }, (_, at) => createService(kube, `shop-${tag}-${at}`)));
      return "ten Services were created: see how few writes they need";
    },
  },
  refuse: {
    label: "Add a broken one",
    hint: "a Service with an annotation that cannot be read",
    flip: async (_options, kube) => {
      await createService(kube, "broken", { [BROKEN]: "maybe" });
      return "Service broken asks for something that does not exist";
    },
  },
  mend: {
    label: "Mend it",
    hint: "gives that Service a valid annotation",
    flip: async (_options, kube) => {
      await kube.patch(
        SERVICES,
        { namespace: "default", name: "broken" },
        { merge: { metadata: { annotations: { [BROKEN]: "true" } } } },
      );
      return "the annotation of Service broken is valid now";
    },
  },
  evict: {
    label: "Evict a node",
    hint: "announces a Spot eviction, as Azure does 30 s before",
    flip: async (_options, kube) => {
      const name = await findNode(kube);
      await announceEviction(kube, name);
      return `Azure will take ${name} in 30 s: no new connections go there any more`;
    },
  },
  drain: {
    label: "Drain a node",
    hint: "as azlb drain does",
    flip: async (_options, kube) => {
      const name = await findNode(kube);
      await kube.patch(
        NODES,
        { name },
        { strategic: { spec: { taints: [{ key: DRAIN_TAINT, value: "manual", effect: "NoSchedule" }] } } },
      );
      return `${name} gets no new connections any more`;
    },
  },
  restore: {
    label: "Restore nodes",
    hint: "takes the taints away that drain a node",
    flip: async (_options, kube) => {
      const { items } = await kube.list(NODES, {});
      const nodes = items.map((item) => projectNode(item)).filter(({ spec }) => spec.taints?.some(isDraining) === true);
      for (const { metadata, spec } of nodes) {
        const taints = (spec.taints ?? []).filter((taint) => !isDraining(taint));
        await kube.patch(NODES, { name: metadata.name }, { merge: { spec: { taints } } });
      }
      return `restored: ${nodes.map(({ metadata }) => metadata.name).join(", ") || "no node was drained"}`;
    },
  },
  throttle: {
    label: "Throttle",
    hint: `Azure answers the next write with 429, and wants ${THROTTLE_SECONDS} s`,
    flip: async ({ azureControlUrl }, kube) => {
      const effect = {
        kind: "status",
        status: 429,
        code: "SubscriptionRequestsThrottled",
        message: "slowly",
        retryAfterSeconds: THROTTLE_SECONDS,
      };
      await control(azureControlUrl, "POST", "/faults", { method: ["PUT"], effect });
      await createService(kube, `late-${Math.random().toString(36).slice(2, 6)}`);
      return `a Service was created, and Azure throttles its write for ${THROTTLE_SECONDS} s`;
    },
  },
  cut: {
    label: "Cut connections",
    hint: "the next five requests to Azure are cut, some before and some after they had their effect",
    flip: async ({ azureControlUrl, lookAgain }) => {
      await control(azureControlUrl, "POST", "/faults", { count: 3, effect: { kind: "cutBefore" } });
      await control(azureControlUrl, "POST", "/faults", { skip: 3, count: 2, effect: { kind: "cutAfter" } });
      lookAgain();
      return "the next five connections to Azure are cut";
    },
  },
  edit: {
    label: "Edit by hand",
    hint: "another client changes a rule of a Service on the load balancer",
    flip: async ({ azureControlUrl, lookAgain }) => {
      const name = await editRule(azureControlUrl);
      lookAgain();
      return `rule ${name} has an idle timeout of 15 minutes now, which nobody asked for`;
    },
  },
};

export function sandboxSwitches(options: SwitchOptions): Switches & { close(): Promise<void> } {
  const { client, close } = openKubeClient({ kubeconfig: options.kubeconfig, userAgent: "azlb-sandbox-page" });
  const items = Object.entries(SWITCHES).map(([name, { label, hint }]) => ({ name, label, hint }));
  return {
    list: () => Promise.resolve({ items }),
    flip: async (body) => {
      const name = (body as { name?: unknown } | null)?.name;
      const found = typeof name === "string" && Object.hasOwn(SWITCHES, name) ? SWITCHES[name] : undefined;
      if (found === undefined) throw new ApiError(400, `name must be one of ${Object.keys(SWITCHES).join(", ")}`);
      return { told: await found.flip(options, client) };
    },
    close,
  };
}

async function createService(
  kube: KubeClient,
  name: string,
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  const spec = { type: "LoadBalancer", selector: { app: name }, ports: [{ name: "http", port: 80, protocol: "TCP" }] };
  try {
    await kube.create(SERVICES, { metadata: { namespace: "default", name, annotations }, spec });
  } catch (error) {
    if (!isFailure(error, "alreadyExists")) throw error;
  }
  await ensureEndpoints(kube, "default", name);
}

async function findNode(kube: KubeClient): Promise<string> {
  const { items } = await kube.list(NODES, {});
  const found = items.map((item) => projectNode(item)).findLast(({ spec }) => spec.taints?.some(isDraining) !== true);
  if (found === undefined) throw new ApiError(409, "every node is drained already: restore them first");
  return found.metadata.name;
}

/** As a node problem detector tells of it. */
async function announceEviction(kube: KubeClient, name: string): Promise<void> {
  const now = new Date(realClock.nowMs());
  const at = `${now.toISOString().slice(0, 19)}Z`;
  const due = new Date(now.getTime() + 30_000).toUTCString();
  await kube.create(EVENTS, {
    metadata: { name: `${name}.${Math.random().toString(16).slice(2)}`, namespace: "default" },
    involvedObject: { kind: "Node", name, uid: name },
    reason: "PreemptScheduled",
    type: "Warning",
    message: `Preempt Scheduled: ${due}. DurationInSeconds: -1.  EventId: ${now.getTime()}`,
    source: { component: "custom-scheduledevents-consolidated-preempt-plugin-monitor", host: name },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  });
}

interface Stored {
  readonly id: string;
  readonly body: { readonly properties?: { readonly loadBalancingRules?: readonly Rule[] } };
}

interface Rule {
  readonly name: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

async function editRule(controlUrl: string): Promise<string> {
  const { resources } = (await control(controlUrl, "GET", "/state")) as { resources: readonly Stored[] };
  const isOwn = ({ name }: Rule): boolean => isServiceBase(baseOf(name));
  const found = resources.find(({ body }) => body.properties?.loadBalancingRules?.some(isOwn));
  const rules = found?.body.properties?.loadBalancingRules ?? [];
  const edited = rules.find(isOwn);
  if (found === undefined || edited === undefined) throw new ApiError(409, "no Service has a rule yet");
  const loadBalancingRules = rules.map((rule) =>
    rule === edited ? { ...rule, properties: { ...rule.properties, idleTimeoutInMinutes: 15 } } : rule,
  );
  const body = { location: "{location}", ...found.body, properties: { ...found.body.properties, loadBalancingRules } };
  await control(controlUrl, "POST", "/seed", { resources: [{ path: found.id, body }] });
  return edited.name;
}

async function control(url: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${url}${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the control endpoint answered ${response.status}: ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}
