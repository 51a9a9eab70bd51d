/** What `azlb verify-azure` tries, in this order, each after the one before: Services and taints, and what must come of them. */
import { isFailure } from "../../kube/client/kube-failure.ts";
import type { KubeClient } from "../../kube/client/kube-client.ts";
import { type KubeObject, NODES, SERVICES } from "../../kube/client/resources.ts";
import { realClock } from "../real-clock.ts";
import type { Throwaway } from "./throwaway.ts";

export const CLUSTER = "azlb-verify";
const POLL_MS = 250;
const SPEC = { type: "LoadBalancer", selector: { app: "none" }, ports: [{ name: "http", port: 80, protocol: "TCP" }] };
const INTERNAL = { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" };
const TAINT = { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" };

export function scenarios(kube: KubeClient, azure: Throwaway, withinMs: number): [string, () => Promise<void>][] {
  const until = async (what: string, look: () => Promise<boolean>): Promise<void> => {
    const startMs = realClock.monotonicMs();
    while (!(await look())) {
      if (realClock.monotonicMs() - startMs > withinMs) throw new Error(`${what}: not within ${withinMs / 1000} s`);
      await realClock.sleep(POLL_MS);
    }
  };
  const create = (name: string, annotations: object, spec: object = SPEC) =>
    kube.create(SERVICES, { metadata: { name, namespace: "default", annotations }, spec } as never);
  const served = (name: string) =>
    until(`${name} has an address`, async () => {
      const { status } = await kube.get<KubeObject & { status?: { loadBalancer?: { ingress?: unknown[] } } }>(
        SERVICES,
        at(name),
      );
      return (status?.loadBalancer?.ingress ?? []).length > 0;
    });
  const gone = (name: string) =>
    until(`${name} is gone`, async () =>
      kube.get(SERVICES, at(name)).then(
        () => false,
        (error: unknown) => isFailure(error, "notFound"),
      ),
    );
  const down = (count: number) =>
    until(`${count} members of the pool are Down`, async () => (await azure.membersDown(CLUSTER)) === count);
  const taint = (taints: object[]) => kube.patch(NODES, { name: "node-10" }, { merge: { spec: { taints } } });
  return [
    ["public load balancer", () => create("public", {}).then(() => served("public"))],
    [
      "security rule",
      async () => {
        const loadBalancerSourceRanges = ["10.250.9.0/24"];
        await kube.patch(SERVICES, at("public"), { merge: { spec: { loadBalancerSourceRanges } } });
        await until("the rule names the range", async () => (await azure.securityGroup()).includes("10.250.9.0/24"));
      },
    ],
    ["internal load balancer", () => create("internal", INTERNAL).then(() => served("internal"))],
    ["admin state Down", () => taint([TAINT]).then(() => down(1))],
    ["admin state None", () => taint([]).then(() => down(0))],
    [
      "deletion",
      async () => {
        for (const name of ["public", "internal"]) await kube.delete(SERVICES, at(name));
        for (const name of ["public", "internal"]) await gone(name);
        await until("no load balancer is left", async () => (await azure.list("loadBalancers")).length === 0);
      },
    ],
  ];
}

function at(name: string): { namespace: string; name: string } {
  return { namespace: "default", name };
}
