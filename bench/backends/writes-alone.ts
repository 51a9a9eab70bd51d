/**
 * How long the API server takes for the writes of a registration when nothing is decided between them: per pod a record, its
 * address, its outcome and the pod's gate, as many at a time as the controller writes. What the controller takes is held against it.
 */
import { BACKEND_RECORDS } from "../../src/controller/lbcf/objects/resources.ts";
import type { KubeClient } from "../../src/kube/client/kube-client.ts";
import { NAMESPACES, PODS } from "../../src/kube/client/resources.ts";
import { realClock } from "../../src/main/real-clock.ts";
import type { KubeConnection } from "../../test/support/kube-connection.ts";
import { type BackendPod, forAll, NAMESPACE } from "./backend-cluster.ts";

/** As many as the controller has in flight. */
const AT_A_TIME = 64;
/** No group has records of its own there, and no LoadBalancer is there. */
const ELSEWHERE = "writes-alone";
const POOL =
  "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/azlb/providers/Microsoft.Network/loadBalancers/bench-0/backendAddressPools/azlb-sandbox-default-lb-0";

/** In milliseconds. Leaves nothing behind but a condition on the pods. */
export async function timeOfWritesAlone(
  client: KubeClient,
  connection: KubeConnection,
  pods: readonly BackendPod[],
): Promise<number> {
  await client.create(NAMESPACES, { metadata: { name: ELSEWHERE } });
  const startMs = realClock.monotonicMs();
  await forAll(pods, (pod) => writeOne(client, pod), AT_A_TIME);
  const tookMs = realClock.monotonicMs() - startMs;
  await connection.request("DELETE", `/apis/lbcf.tkestack.io/v1beta1/namespaces/${ELSEWHERE}/backendrecords`);
  return tookMs;
}

async function writeOne(client: KubeClient, pod: BackendPod): Promise<void> {
  const record = { namespace: ELSEWHERE, name: pod.name };
  await client.create(BACKEND_RECORDS, {
    metadata: { ...record, labels: { "lbcf.tkestack.io/backend-pod": pod.name } },
    spec: {
      lbName: "lb-0",
      lbDriver: "lbcf-azure",
      lbInfo: { pool: POOL },
      lbAttributes: { frontend: "internal" },
      parameters: {},
      ensurePolicy: { policy: "IfNotSucc" },
      podBackend: { name: pod.name, port: { port: 8080, portNumber: 8080, protocol: "TCP" } },
    },
  });
  const addressed = { backendAddr: pod.ip, generatedFrom: pod.ip, injectedInfo: {}, conditions: [] };
  await storeStatus(client, record, addressed);
  const lastTransitionTime = new Date().toISOString();
  const registered = { type: "Registered", status: "True", lastTransitionTime, observedGeneration: 1 };
  await storeStatus(client, record, { ...addressed, registeredAddr: pod.ip, conditions: [registered] });
  const condition = { type: "bench.azlb.io/alone", status: "True", lastTransitionTime };
  const place = { namespace: NAMESPACE, name: pod.name, subresource: "status" } as const;
  await client.patch(PODS, place, { strategic: { status: { conditions: [condition] } } });
}

async function storeStatus(
  client: KubeClient,
  record: { namespace: string; name: string },
  value: object,
): Promise<void> {
  await client.patch(
    BACKEND_RECORDS,
    { ...record, subresource: "status" },
    { json: [{ op: "add", path: "/status", value }] },
  );
}
