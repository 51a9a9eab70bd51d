/**
 * Two controllers, and the leader sleeps through the loss of its lease: with a write on the wire, to Azure or to
 * Kubernetes, and with news waiting for it when it wakes. Each signs in to Azure under a name of its own and talks to
 * Kubernetes through a proxy of its own, so that both audits tell their writes apart.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";

import type { AuditEntry } from "../../sandbox/azure/control/audit.ts";
import { DEFAULT_LEASE } from "../../src/main/controller.ts";
import { CrashBed, type KubeObject } from "../crash/crash-bed.ts";
import { ControllerProcess } from "../support/controller-process.ts";
import { eventually } from "../support/eventually.ts";
import { RELEASED } from "../support/released-lease.ts";
import { RewritingProxy, type Answered } from "../support/rewriting-proxy.ts";
import { assertSettled } from "../support/settled-plan.ts";

const WITHIN_MS = 120_000;
const SERVICES = "/api/v1/namespaces/default/services";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const INTERNAL = { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" };
/** A busy machine must not lose it by itself. */
const LEASE = [
  "--leader-elect-lease-duration=12s",
  "--leader-elect-renew-deadline=10s",
  "--leader-elect-retry-period=500ms",
];
/** The write on the wire arrives when the other one has long taken over. */
const HELD = { kind: "delay", delayMs: null };

interface Instance {
  readonly controller: ControllerProcess;
  /** What it wrote to Kubernetes, and how that was answered. */
  readonly proxy: RewritingProxy;
}

describe("the leader is paused beyond its lease and resumed", { concurrency: true }, () => {
  test("its write to Azure arrives when the new leader has written the same: refused; and none leaves once it wakes", async () => {
    await using scene = await Scene.open();
    const { bed } = scene;
    const [old, heir] = await scene.leaderAndHeir();
    // both leave at about the same time, and both must be on the wire: what is cut short by the pause arrives after it
    const held = await Promise.all(
      ["**/loadBalancers/*", "**/networkSecurityGroups/*"].map((path) =>
        bed.azureFaults.arm({ method: ["PUT"], path, caller: "old", effect: HELD }),
      ),
    );
    scene.serve("second");
    for (const fault of held)
      await eventually(async () => assert.equal(await bed.azureFaults.hits(fault), 1), WITHIN_MS);
    old.controller.signal("SIGSTOP");
    scene.serve("third");
    await heir.controller.ready();
    await Promise.all([scene.served("second"), scene.served("third")]);
    await bed.azureFaults.clear();
    const late = async (): Promise<readonly AuditEntry[]> =>
      (await scene.azureWritesBy("old")).filter(({ faults }) => held.some((fault) => faults.includes(fault)));
    await eventually(async () => assert.equal((await late()).length, held.length), WITHIN_MS);
    for (const { status } of await late()) assert.equal(status, 412);
    await scene.assertSilentOnceAwake(old, heir);
  });

  test("its status of a Service arrives when the new leader has told another: refused; and none leaves once it wakes", async () => {
    await using scene = await Scene.open();
    const { bed } = scene;
    const [old, heir] = await scene.leaderAndHeir();
    const path = `${SERVICES}/second/status`;
    const held = await bed.kubeFaults.arm({ method: ["PATCH"], path, effect: HELD });
    scene.serve("second");
    await eventually(async () => assert.equal(await bed.kubeFaults.hits(held), 1), WITHIN_MS);
    old.controller.signal("SIGSTOP");
    bed.user("PATCH", `${SERVICES}/second`, { metadata: { annotations: INTERNAL } });
    await heir.controller.ready();
    await eventually(() => assert.match(scene.addressOf("second"), /^10\.240\./), WITHIN_MS);
    await bed.kubeFaults.clear();
    const late = (): Answered | undefined => old.proxy.writes.find((write) => write.path === path);
    await eventually(() => assert.ok(late() !== undefined), WITHIN_MS);
    assert.equal(late()?.status, 409);
    assert.match(scene.addressOf("second"), /^10\.240\./);
    await scene.assertSilentOnceAwake(old, heir);
  });
});

/** A cluster of its own with the controllers that run on it. */
class Scene implements AsyncDisposable {
  readonly bed: CrashBed;
  readonly #directory: string;
  readonly #instances: Instance[] = [];

  private constructor(directory: string, bed: CrashBed) {
    this.#directory = directory;
    this.bed = bed;
  }

  static async open(): Promise<Scene> {
    const directory = mkdtempSync(join(tmpdir(), "azlb-split-"));
    const bed = await CrashBed.make(directory);
    const metadata = { namespace: DEFAULT_LEASE.namespace, name: DEFAULT_LEASE.name };
    bed.user("POST", LEASES, { metadata, spec: RELEASED });
    return new Scene(directory, bed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#instances.map(({ controller }) => controller.kill()));
    await Promise.all(this.#instances.map(({ proxy }) => proxy.close()));
    await this.bed.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** A Service is served, and the second one stands by. */
  async leaderAndHeir(): Promise<readonly [Instance, Instance]> {
    const old = await this.#start("old");
    await old.controller.ready();
    this.serve("first");
    await this.served("first");
    return [old, await this.#start("heir")];
  }

  async #start(caller: string): Promise<Instance> {
    const {
      aadClientId: _id,
      aadClientSecret: _secret,
      ...config
    } = this.bed.azure.cloudConfig as Record<string, unknown>;
    const cloudConfig = join(this.#directory, `${caller}.json`);
    const identity = { useManagedIdentityExtension: true, userAssignedIdentityID: caller };
    writeFileSync(cloudConfig, JSON.stringify({ ...config, ...identity }));
    const proxy = await RewritingProxy.before(this.bed.kubernetes.url, join(this.#directory, "kubernetes", "pki"));
    const kubeconfig = join(this.#directory, `${caller}.kubeconfig`);
    writeFileSync(
      kubeconfig,
      readFileSync(this.bed.kubernetes.kubeconfig, "utf8").replace(this.bed.kubernetes.url, proxy.url),
    );
    const files = { kubeconfig, cloudConfig, env: this.bed.azure.env };
    const instance = { controller: await ControllerProcess.start(files, ["--leader-elect=true", ...LEASE]), proxy };
    this.#instances.push(instance);
    return instance;
  }

  /** The old leader notices and ends without a single write, to Azure or to Kubernetes; what the new one has made stands. */
  async assertSilentOnceAwake(old: Instance, heir: Instance): Promise<void> {
    await eventually(async () => assertSettled(await this.bed.plan()), WITHIN_MS);
    const beforeWaking = (await this.#audit()).at(-1)?.sequence ?? 0;
    const kubernetesWrites = old.proxy.writes.length;
    this.serve("news");
    await this.served("news");
    old.controller.signal("SIGCONT");
    await eventually(() => assert.ok(old.controller.ended, "the old leader still runs"), WITHIN_MS);
    assert.match(old.controller.output, /leader election lost/);
    const toAzure = (await this.azureWritesBy("old")).filter(({ sequence }) => sequence > beforeWaking);
    assert.deepEqual(toAzure, [], "to Azure");
    assert.deepEqual(old.proxy.writes.slice(kubernetesWrites), [], "to Kubernetes");
    await this.#assertNothingUndone();
    assertSettled(await this.bed.plan());
    assert.equal(heir.controller.ended, false);
    assert.ok(heir.proxy.writes.some(({ path, status }) => path.startsWith(SERVICES) && status < 300));
  }

  serve(name: string): void {
    const spec = { type: "LoadBalancer", selector: { app: name }, ports: [{ port: 80 }] };
    this.bed.user("POST", SERVICES, { metadata: { name }, spec });
  }

  async served(name: string): Promise<void> {
    const logs = (): string => this.#instances.map(({ controller }) => controller.output).join("\n");
    await eventually(() => assert.notEqual(this.addressOf(name), "", `${name} has no address\n${logs()}`), WITHIN_MS);
  }

  addressOf(name: string): string {
    const { status } = this.bed.user("GET", `${SERVICES}/${name}`) as KubeObject;
    const { ingress = [] } = (status as { loadBalancer: { ingress?: readonly { ip: string }[] } }).loadBalancer;
    return ingress[0]?.ip ?? "";
  }

  async #audit(): Promise<readonly AuditEntry[]> {
    return ((await this.bed.azureFaults.send("GET", "/audit")) as { entries: readonly AuditEntry[] }).entries;
  }

  async azureWritesBy(caller: string): Promise<readonly AuditEntry[]> {
    return (await this.#audit()).filter((entry) => entry.caller === caller && entry.method !== "GET" && !entry.poll);
  }

  /** By the order in which they took effect: once the heir wrote a resource, no write of the old one did. */
  async #assertNothingUndone(): Promise<void> {
    const taken = new Set<string>();
    for (const { caller, method, path, status } of await this.#audit()) {
      if (method === "GET" || status >= 400) continue;
      if (caller === "heir") taken.add(path);
      else if (caller === "old") assert.ok(!taken.has(path), `${method} ${path} of the old leader took effect`);
    }
    assert.notEqual(taken.size, 0, "the heir has written");
  }
}
