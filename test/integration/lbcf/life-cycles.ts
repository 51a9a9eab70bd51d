/**
 * The lives of LoadBalancers, of groups of every kind, and of Binds, as a driver sees them: what is done to the objects here, what the
 * driver was asked there. Whose controller asks is not said: the same lives were led under LBCF's own, and what its driver saw is in
 * `test/fixtures/lbcf/life-cycles.json`. What the two must have in common is `recorded-exchanges.ts`'s.
 */
import assert from "node:assert/strict";

import { type Answering, type RogueDriver, WELL_BEHAVED } from "./rogue-driver.ts";
import { condition, type LbcfObject, type LbcfWorld } from "./world.ts";

type Body = Readonly<Record<string, unknown>>;
/** A hook, and what came with it; ids by the names of what they identify. */
export type Exchange = readonly [hook: string, body: Body];

export interface LifeCycle {
  readonly name: string;
  /** Several backends: the order of their calls is nobody's promise. */
  readonly anyOrder?: boolean;
  readonly live: (stage: Stage) => Promise<void>;
}

const BINDS = "/apis/lbcf.tkestack.io/v1/namespaces/default/binds";
const CORE = "/api/v1/namespaces/default";
const POD_IP = "10.244.7.1";
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** As strict as drivers of LBCF were: it answers 406 to an `accept` header and drops a call of healthz. It names load balancers, and remembers backends. */
export const STRICT: Answering = (hook, body, headers) => {
  if (headers.accept !== undefined && headers.accept !== "*/*") return { text: "", status: 406 };
  if (hook === "healthz") return "drop";
  if (hook === "createLoadBalancer") {
    const { id } = body["lbSpec"] as { id: string };
    return { json: { status: "Succ", msg: "", minRetryDelayInSeconds: 0, lbInfo: { made: id } } };
  }
  if (hook === "ensureBackend") return { json: { status: "Succ", msg: "", injectedInfo: { memo: "1" } } };
  const service = body["serviceBackend"] as { nodeAddresses: { address: string }[] } | null | undefined;
  if (hook === "generateBackendAddr" && service) {
    return { json: { status: "Succ", backendAddr: service.nodeAddresses[0]?.address } };
  }
  return WELL_BEHAVED(hook, body);
};

/** One life: a world in which the driver `wire` is known, and what that driver was asked since the life began. */
export class Stage {
  readonly world: LbcfWorld;
  readonly driver: RogueDriver;
  readonly #since: number;
  /** What an id identifies. */
  readonly #names = new Map<string, string>();

  constructor(world: LbcfWorld, driver: RogueDriver) {
    this.world = world;
    this.driver = driver;
    this.#since = driver.asked.length;
  }

  exchanges(): readonly Exchange[] {
    return this.driver.asked
      .slice(this.#since)
      .filter(({ hook }) => hook !== "healthz")
      .map(({ hook, body }) => [hook, this.#named(body)]);
  }

  async loadBalancer(name: string, spec: object): Promise<void> {
    await this.world.create("LoadBalancer", name, { lbDriver: "wire", lbSpec: { id: name }, ...spec });
    await this.world.eventually(async () => {
      const object = await this.world.get("LoadBalancer", name);
      this.#name(object, `LoadBalancer ${name}`);
      assert.equal(condition(object, "Created")?.status, "True");
    });
  }

  /** Until its attributes are the driver's; LBCF's does not say. */
  async synced(name: string): Promise<void> {
    await this.world.eventually(async () => {
      const { spec, status } = (await this.world.get("LoadBalancer", name)) as { spec: Body; status?: Body };
      assert.deepEqual(status?.["lastSyncedAttributes"] ?? spec["attributes"], spec["attributes"]);
    });
  }

  async bind(name: string, spec: object): Promise<void> {
    const bind = { apiVersion: "lbcf.tkestack.io/v1", kind: "Bind", metadata: { name }, spec };
    this.#name(await this.world.post(BINDS, bind), `Bind ${name}`);
  }

  async changeBind(name: string, change: object): Promise<void> {
    await this.world.patch(`${BINDS}/${name}`, change);
  }

  async deleteBind(name: string): Promise<void> {
    await this.world.remove(`${BINDS}/${name}`, {});
    await this.world.eventually(async () =>
      assert.equal((await this.world.cluster.request("GET", `${BINDS}/${name}`)).code, 404),
    );
  }

  /** Until that many records are registered, and no others are left. */
  registered(count: number): Promise<void> {
    return this.world.eventually(async () => {
      const records = await this.world.records();
      for (const record of records)
        this.#name(record, `record of ${String(record.spec["lbName"])}, ${backendOf(record)}`);
      const done = records.filter((each) => condition(each, "Registered")?.status === "True");
      assert.deepEqual([done.length, records.length], [count, count]);
    });
  }

  /** Until the hook was asked so often in this life. */
  asked(hook: string, times: number): Promise<void> {
    return this.world.eventually(() => {
      const calls = this.exchanges().filter(([each]) => each === hook).length;
      assert.ok(calls >= times, `${hook}: ${calls} of ${times}`);
    });
  }

  async gone(kind: string, name: string): Promise<void> {
    await this.world.delete(kind, name);
    await this.world.eventually(async () => assert.equal(await this.world.exists(kind, name), false));
    await this.world.eventually(async () =>
      assert.equal((await this.world.records()).filter((each) => isOf(each, kind, name)).length, 0),
    );
  }

  #name({ metadata }: { readonly metadata: { readonly uid?: string } }, name: string): void {
    if (metadata.uid !== undefined) this.#names.set(metadata.uid, name);
  }

  #named(body: Body): Body {
    const { retryID, recordID, podBackend, serviceBackend, notReadyPods, ...rest } = body;
    return {
      ...rest,
      ...("recordID" in body && { recordID: this.#recordId(String(recordID)) }),
      ...("retryID" in body && { retryID: UUID.test(String(retryID)) ? "a UUID" : retryID }),
      ...("podBackend" in body && { podBackend: withObject(podBackend, "pod", podParts) }),
      ...("serviceBackend" in body && { serviceBackend: withObject(serviceBackend, "service", serviceParts) }),
      ...("notReadyPods" in body && { notReadyPods: (notReadyPods as readonly Body[]).map(podParts) }),
    };
  }

  #recordId(id: string): string {
    return id.replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/, (uid) => this.#names.get(uid) ?? uid);
  }
}

function withObject(sent: unknown, key: string, parts: (object: Body) => Body): unknown {
  if (sent === null || sent === undefined) return sent;
  const { [key]: object, ...rest } = sent as Body;
  return { ...rest, [key]: parts(object as Body) };
}

/** What drivers look at; the rest of the object is the API server's, and its version's. */
function podParts(pod: Body): Body {
  const { spec, status } = pod as { spec: Body; status: Body };
  const { podIP, phase } = status;
  return { metadata: metadataOf(pod), spec: { nodeName: spec["nodeName"] }, status: { podIP, phase } };
}

function serviceParts(service: Body): Body {
  const { type, ports } = service["spec"] as { type: string; ports: readonly Body[] };
  return {
    metadata: metadataOf(service),
    spec: { type, ports: ports.map(({ nodePort, port }) => ({ nodePort, port })) },
  };
}

function metadataOf({ metadata }: Body): Body {
  const { name, namespace, labels } = metadata as Body;
  return { name, namespace, ...(labels !== undefined && { labels }) };
}

function backendOf({ spec }: LbcfObject): string {
  const pod = spec["podBackend"] as { name: string; port: { port: number; protocol: string } } | undefined;
  const service = spec["serviceBackend"] as { nodeName: string } | undefined;
  if (pod) return `${pod.name}:${pod.port.port}/${pod.port.protocol}`;
  return service ? service.nodeName : String(spec["staticAddr"]);
}

function isOf({ metadata, spec }: LbcfObject, kind: string, name: string): boolean {
  const owners = (metadata["ownerReferences"] ?? []) as readonly { kind: string; name: string }[];
  return kind === "LoadBalancer"
    ? spec["lbName"] === name
    : owners.some((each) => each.kind === kind && each.name === name);
}

/** Makes the load balancer, the group, changes its parameters, and takes both away. */
function groupLife(spec: object): LifeCycle["live"] {
  return async (stage) => {
    await stage.loadBalancer("c", { attributes: { a: "1" } });
    await stage.world.create("BackendGroup", "c", { loadBalancers: ["c"], parameters: { weight: "5" }, ...spec });
    await stage.registered(1);
    await stage.world.change("BackendGroup", "c", { spec: { parameters: { weight: "6" } } });
    await stage.asked("ensureBackend", 2);
    await stage.registered(1);
    await stage.gone("BackendGroup", "c");
    await stage.gone("LoadBalancer", "c");
  };
}

const byLabel = { ports: [{ port: 80, protocol: "TCP" }], byLabel: { selector: { app: "c" } } };
const bound = (name: string, more: object = {}): object => ({ name, driver: "wire", spec: { id: name }, ...more });

/** The pod that most of them register. */
export async function addPodOfLives(world: LbcfWorld): Promise<void> {
  await world.addPod("c-0", { ip: POD_IP, labels: { app: "c" } });
}

export const LIFE_CYCLES: readonly LifeCycle[] = [
  {
    name: "a LoadBalancer whose attributes change",
    live: async (stage) => {
      await stage.loadBalancer("life", { attributes: { colour: "red" } });
      await stage.world.change("LoadBalancer", "life", { spec: { attributes: { colour: "blue" } } });
      await stage.asked("validateLoadBalancer", 2);
      await stage.synced("life");
      await stage.gone("LoadBalancer", "life");
    },
  },
  {
    name: "a LoadBalancer that is always ensured",
    live: async (stage) => {
      await stage.loadBalancer("life", {
        attributes: { colour: "red" },
        ensurePolicy: { policy: "Always", minPeriod: "30s" },
      });
      await stage.world.change("LoadBalancer", "life", { spec: { attributes: { colour: "blue" } } });
      await stage.asked("ensureLoadBalancer", 1);
      await stage.gone("LoadBalancer", "life");
    },
  },
  {
    name: "a LoadBalancer of few words",
    live: (stage) => stage.loadBalancer("few", {}).then(() => stage.gone("LoadBalancer", "few")),
  },
  { name: "a group of pods by label", live: groupLife({ pods: byLabel }) },
  { name: "a group of pods by name", live: groupLife({ pods: { ports: byLabel.ports, byName: ["c-0"] } }) },
  { name: "a group of static addresses", live: groupLife({ static: ["10.1.1.1:80"] }) },
  {
    name: "a group of nodes behind a Service",
    live: async (stage) => {
      await stage.world.post(`${CORE}/services`, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "np", labels: { a: "b" } },
        spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30_127 }], selector: { app: "x" } },
      });
      const nodeSelector = { "kubernetes.io/hostname": stage.world.azure.nodes[0]?.name };
      await groupLife({ service: { name: "np", port: { port: 80, protocol: "TCP" }, nodeSelector } })(stage);
      await stage.world.remove(`${CORE}/services/np`, {});
    },
  },
  {
    name: "a group without parameters, of a pod that is not ready for a while",
    live: async (stage) => {
      await stage.loadBalancer("c", {});
      await stage.world.create("BackendGroup", "c", { loadBalancers: ["c"], pods: byLabel });
      await stage.registered(1);
      await stage.world.setPod("c-0", { ip: POD_IP, ready: false });
      await stage.registered(0);
      await stage.world.setPod("c-0", { ip: POD_IP });
      await stage.registered(1);
      await stage.gone("BackendGroup", "c");
      await stage.gone("LoadBalancer", "c");
    },
  },
  {
    name: "a group whose pods a webhook judges",
    live: async (stage) => {
      await stage.loadBalancer("c", {});
      const deregisterWebhook = { driverName: "wire", failurePolicy: "DoNothing" };
      const spec = { loadBalancers: ["c"], pods: byLabel, deregisterPolicy: "Webhook", deregisterWebhook };
      await stage.world.create("BackendGroup", "c", spec);
      await stage.registered(1);
      await stage.world.setPod("c-0", { ip: POD_IP, ready: false });
      await stage.registered(0);
      await stage.world.setPod("c-0", { ip: POD_IP });
      await stage.registered(1);
      await stage.gone("BackendGroup", "c");
      await stage.gone("LoadBalancer", "c");
    },
  },
  {
    name: "a registration that takes a while",
    live: async (stage) => {
      let isFirst = true;
      stage.driver.answer = (hook, body, headers) => {
        if (hook !== "ensureBackend" || !isFirst) return STRICT(hook, body, headers);
        isFirst = false;
        return { json: { status: "Running", msg: "", minRetryDelayInSeconds: 1 } };
      };
      await groupLife({ pods: byLabel })(stage);
      stage.driver.answer = STRICT;
    },
  },
  {
    name: "two ports in two load balancers",
    anyOrder: true,
    live: async (stage) => {
      await stage.loadBalancer("c", { attributes: { a: "1" } });
      await stage.loadBalancer("d", {});
      const ports = [
        { port: 80, protocol: "TCP" },
        { port: 53, protocol: "UDP" },
      ];
      await stage.world.create("BackendGroup", "c", { loadBalancers: ["c", "d"], pods: { ...byLabel, ports } });
      await stage.registered(4);
      await stage.world.change("BackendGroup", "c", { spec: { loadBalancers: ["c"] } });
      await stage.registered(2);
      await stage.gone("BackendGroup", "c");
      await stage.gone("LoadBalancer", "c");
      await stage.gone("LoadBalancer", "d");
    },
  },
  {
    name: "a Bind",
    anyOrder: true,
    live: async (stage) => {
      const one = bound("one", { attributes: { a: "1" } });
      await stage.bind("b", { loadBalancers: [one], pods: byLabel, parameters: { weight: "5" } });
      await stage.registered(1);
      await stage.changeBind("b", { spec: { parameters: { weight: "6" } } });
      await stage.asked("ensureBackend", 2);
      await stage.registered(1);
      await stage.changeBind("b", { spec: { loadBalancers: [bound("one", { attributes: { a: "2" } })] } });
      await stage.asked("ensureLoadBalancer", 1);
      await stage.asked("ensureBackend", 3);
      await stage.registered(1);
      await stage.deleteBind("b");
    },
  },
  {
    name: "a Bind with two load balancers",
    anyOrder: true,
    live: async (stage) => {
      await stage.bind("b", { loadBalancers: [bound("one"), bound("two")], pods: byLabel });
      await stage.registered(2);
      await stage.deleteBind("b");
    },
  },
];
