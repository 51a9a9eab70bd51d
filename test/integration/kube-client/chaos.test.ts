/**
 * A reflector behind a bad line: whatever happens to its connections, its cache is soon what the server has, and
 * no subscriber is told anything twice. The server is the embedded Kubernetes API; the line is `chaos-proxy.ts`.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { HttpTransport } from "../../../src/kube/client/http-transport.ts";
import { KubeClient } from "../../../src/kube/client/kube-client.ts";
import { isFailure } from "../../../src/kube/client/kube-failure.ts";
import { findCluster } from "../../../src/kube/client/find-cluster.ts";
import { LiveCredentials } from "../../../src/kube/client/live-credentials.ts";
import { Reflector } from "../../../src/kube/cache/reflector.ts";
import {
  CONFIG_MAPS,
  keyOf,
  resourcePath,
  type KubeObject,
  type Place,
  type Resource,
} from "../../../src/kube/client/resources.ts";
import { realClock } from "../../../src/main/real-clock.ts";
import { startKubernetes, type RunningKubernetes } from "../../../sandbox/kubernetes/index.ts";
import { eventually } from "../../support/eventually.ts";
import { acceleratedClock } from "../../support/accelerated-clock.ts";
import { seededRandom } from "../../support/virtual-clock.ts";
import { ChaosProxy } from "./chaos-proxy.ts";
import { ChangeChecker } from "./change-checker.ts";

const NAMESPACES: Resource = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
/** Far more than it ever takes; a machine may be busy. */
const SOON_MS = 120_000;

/** Silence is noticed after two seconds, and the longest pause between attempts is below one. */
const FACTOR = 50;
const hurried = acceleratedClock(FACTOR);
/** A busy machine may need long for an answer that comes: each failure doubles the patience, up to this. */
const OPENING_MS = 30_000;
const MOST_DOUBLINGS = 4;

let kubernetes: RunningKubernetes;
let direct: KubeClient;
let directTransport: HttpTransport;

before(async () => {
  kubernetes = await startKubernetes({ log: () => {} });
  directTransport = transportTo(kubernetes.url);
  direct = new KubeClient({ transport: directTransport, clock: realClock });
});

after(async () => {
  await directTransport.close();
  await kubernetes.close();
});

function transportTo(server: string): HttpTransport {
  const cluster = findCluster({ kubeconfig: kubernetes.kubeconfig, env: {}, homeDir: "/" });
  return new HttpTransport(new LiveCredentials({ ...cluster, server }, realClock));
}

async function control(method: string, path: string, body?: object): Promise<void> {
  const init =
    body === undefined
      ? { method }
      : { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await fetch(`${kubernetes.controlUrl}${path}`, init);
  assert.equal(response.status, 200, await response.text());
}

async function isStored(place: Place): Promise<boolean> {
  try {
    await direct.get(CONFIG_MAPS, place);
    return true;
  } catch (error) {
    if (isFailure(error, "notFound")) return false;
    throw error;
  }
}

/** One namespace of ConfigMaps, a proxy, and a reflector behind it. */
class Scene {
  readonly namespace: string;
  readonly proxy: ChaosProxy;
  readonly random: () => number;
  readonly ledger = new ChangeChecker();
  readonly reflector: Reflector<KubeObject>;
  /** Since a connection last worked. */
  readonly problems: string[] = [];

  constructor(namespace: string, proxy: ChaosProxy, transport: HttpTransport) {
    this.namespace = namespace;
    this.proxy = proxy;
    this.random = seededRandom(namespace.length);
    const { problems } = this;
    this.reflector = new Reflector<KubeObject>({
      client: new KubeClient({ transport, clock: hurried, timeoutMs: SOON_MS * FACTOR }),
      resource: CONFIG_MAPS,
      selection: { namespace },
      clock: hurried,
      random: this.random,
      project: (object) => object,
      get openingMs() {
        return OPENING_MS * 2 ** Math.min(problems.length, MOST_DOUBLINGS);
      },
      onProblem: ({ error }) => void problems.push(String(error)),
      onRecovery: () => void problems.splice(0),
    });
    this.reflector.subscribe(this.ledger.listen);
  }

  /** Creates, changes, deletes, and deletes and makes anew, at random, among a few names. */
  async write(times: number): Promise<void> {
    for (let time = 0; time < times; time++) {
      const metadata = { namespace: this.namespace, name: `thing-${Math.floor(this.random() * 12)}` };
      const exists = await isStored(metadata);
      const deed = this.random();
      if (exists && deed < 0.5) {
        await direct.patch(CONFIG_MAPS, metadata, { merge: { data: { written: String(deed) } } });
      } else {
        if (exists) await direct.delete(CONFIG_MAPS, metadata);
        if (!exists || deed < 0.8) await direct.create(CONFIG_MAPS, { metadata, data: { written: "new" } });
      }
    }
  }

  async synced(): Promise<void> {
    await eventually(() => assert.ok(this.reflector.stats().lists > 0, this.problems.join("\n")), SOON_MS);
  }

  /** By another path than the reflector's, so that armed faults do not hit it. */
  async onServer(): Promise<KubeObject[]> {
    const { items } = await direct.list<KubeObject>(CONFIG_MAPS, {});
    return items.filter((item) => item.metadata.namespace === this.namespace);
  }

  async sameAsServer(): Promise<void> {
    const wanted = versionsOf(await this.onServer());
    const isSame = (): void =>
      assert.deepEqual(versionsOf(this.reflector.store.values()), wanted, this.problems.join("\n") || undefined);
    await eventually(isSame, SOON_MS);
  }

  /** The next requests of the reflector, lists and watches alike, are answered like this. */
  failNext(count: number, status: number, reason: string): Promise<void> {
    const path = resourcePath(CONFIG_MAPS, { namespace: this.namespace });
    return control("POST", "/faults", { method: "GET", path, count, effect: { kind: "status", status, reason } });
  }
}

function versionsOf(objects: Iterable<KubeObject>): string[] {
  const version = (object: KubeObject): string =>
    `${keyOf(object)} ${object.metadata.uid} ${object.metadata.resourceVersion}`;
  return Array.from(objects, version).sort((a, b) => (a < b ? -1 : 1));
}

let scenes = 0;

/** Plays a scene to its end; afterwards nothing of it may be left. */
async function play(act: (scene: Scene) => Promise<void>, prepare?: (scene: Scene) => Promise<void>): Promise<void> {
  const namespace = `scene-${"x".repeat(++scenes)}`;
  await direct.create(NAMESPACES, { metadata: { name: namespace } });
  await using proxy = await ChaosProxy.before(Number(new URL(kubernetes.url).port));
  const transport = transportTo(`https://127.0.0.1:${proxy.port}`);
  const scene = new Scene(namespace, proxy, transport);
  await scene.write(15);
  await prepare?.(scene);
  const stop = new AbortController();
  const run = scene.reflector.run(stop.signal);
  try {
    await scene.synced();
    await act(scene);
    await scene.sameAsServer();
    assert.deepEqual(scene.ledger.breaches, []);
    assert.equal(scene.ledger.alive, scene.reflector.store.size);
  } finally {
    stop.abort(new Error("the test is over"));
    await run;
    await transport.close();
  }
  await eventually(() => assert.equal(proxy.open, 0), SOON_MS);
}

/** What happens to the line between some writes and some more; all of it heals by itself or is mended. */
const FAULTS: Readonly<Record<string, (scene: Scene) => void | Promise<void>>> = {
  "is cut": ({ proxy }) => proxy.cut(),
  "is cut in the middle of a line": ({ proxy }) => proxy.cutWithin(40),
  "is closed from one side": ({ proxy }) => proxy.halfClose(),
  "stalls, and then goes on": ({ proxy }) => proxy.stall(),
  "freezes without closing": ({ proxy }) => proxy.freeze(),
  "is forgotten by a firewall": ({ proxy }) => proxy.forget(),
  "refuses connections for a while": ({ proxy }) => proxy.refuse(),
  "ends in good order": () => control("POST", "/watches/cut", { how: "close" }),
  "is torn by the server": () => control("POST", "/watches/cut", { how: "destroy" }),
  "is gone, with its history (410)": async (scene) => {
    scene.proxy.refuse();
    await scene.write(3);
    await control("POST", "/compact");
  },
  "answers 410 as a status": async (scene) => {
    await scene.failNext(2, 410, "Expired");
    scene.proxy.cut();
  },
  "answers 429 a few times": async (scene) => {
    await scene.failNext(3, 429, "TooManyRequests");
    scene.proxy.cut();
  },
  "answers 500 a few times": async (scene) => {
    await scene.failNext(3, 500, "InternalError");
    scene.proxy.cut();
  },
  "does not know us for a while (401)": async (scene) => {
    await scene.failNext(2, 401, "Unauthorized");
    scene.proxy.cut();
  },
};

describe("the cache is soon what the server has, and everything is told once,", { concurrency: true }, () => {
  for (const [fault, strike] of Object.entries(FAULTS)) {
    test(`when the line ${fault}`, () =>
      play(async (scene) => {
        for (let round = 0; round < 2; round++) {
          await scene.write(4);
          await strike(scene);
          await scene.write(6);
          scene.proxy.mend();
          await scene.write(4);
          await scene.sameAsServer();
        }
      }));
  }

  test("when all of that happens at random", () =>
    play(async (scene) => {
      const strikes = Object.values(FAULTS);
      for (let strike = 0; strike < 25; strike++) {
        await strikes[Math.floor(scene.random() * strikes.length)]!(scene);
        await scene.write(3);
        if (scene.random() < 0.7) scene.proxy.mend();
      }
      scene.proxy.mend();
      await scene.sameAsServer();
    }));

  test("when the server has no streaming lists", () =>
    play(
      async (scene) => {
        scene.proxy.refuse();
        await scene.write(5);
        await control("POST", "/compact");
        scene.proxy.mend();
        await scene.sameAsServer();
        // objects are there one by one, before the list that brings them is complete
        await eventually(() => assert.ok(scene.reflector.stats().lists >= 2), SOON_MS);
      },
      (scene) => scene.failNext(1, 422, "Invalid"),
    ));
});
