/**
 * A controller that dies at a call of the test's choosing: just before the call leaves, or when it was carried out and
 * the answer is on its way. From then on nothing that it does has any effect, as after `kill -9`: no request leaves, no
 * answer arrives, no timer fires.
 */
import { findCloud } from "../../../src/azure/arm/clouds.ts";
import { signIn } from "../../../src/azure/arm/credentials.ts";
import { ArmClient } from "../../../src/azure/arm/arm-client.ts";
import { HttpTransport as ArmHttp } from "../../../src/azure/arm/http-transport.ts";
import { CachedTokens } from "../../../src/azure/arm/token-source.ts";
import { Controller } from "../../../src/controller/controller.ts";
import { LOCAL_HOSTS } from "../../../src/core/lbcf/drivers/webhook-hosts.ts";
import { Metrics } from "../../../src/controller/metrics.ts";
import { sleepOn, type Clock, type Timer } from "../../../src/core/util/clock.ts";
import { SILENT_LOG } from "../../../src/core/util/log.ts";
import { EventRecorder } from "../../../src/kube/events/event-recorder.ts";
import { OPEN_FENCE } from "../../../src/kube/election/lease.ts";
import { findCluster } from "../../../src/kube/client/find-cluster.ts";
import { HttpTransport as KubeHttp } from "../../../src/kube/client/http-transport.ts";
import { KubeClient } from "../../../src/kube/client/kube-client.ts";
import { LiveCredentials } from "../../../src/kube/client/live-credentials.ts";
import { loadCloudConfig } from "../../../src/main/load-cloud-config.ts";
import { realClock } from "../../../src/main/real-clock.ts";
import { WebhookHttp } from "../../../src/main/webhook-http.ts";
import type { LbcfWorld } from "./world.ts";

export interface KillPoint {
  /** The how manyth call; 0: never. */
  readonly call: number;
  readonly when: "before" | "after";
}

const RETRIES = { leastMs: 20, stepMs: 50, mostMs: 500 };
/** Not counted: what goes on all the time, and what is only for people. */
const BESIDES = /watch=true|\/events|\/leases|\/healthz|\/oauth2|\/metadata/;

export class KillableController {
  /** The calls that it made since `arm`, in order. */
  readonly calls: string[] = [];
  readonly #closers: (() => Promise<void>)[] = [];
  readonly #timers = new Set<Timer>();
  #killPoint: KillPoint = { call: 0, when: "before" };
  #isKilled = false;
  #controller: Controller | undefined;

  static async start(world: LbcfWorld): Promise<KillableController> {
    const killable = new KillableController();
    await killable.#begin(world);
    return killable;
  }

  /** From now on calls count. */
  arm(kill: KillPoint): void {
    this.calls.length = 0;
    this.#killPoint = kill;
  }

  get isKilled(): boolean {
    return this.#isKilled;
  }

  /** Ends what is left of it, killed or not. */
  async close(): Promise<void> {
    if (!this.#isKilled) await this.#controller?.stop();
    void this.#kill();
    for (const close of this.#closers) await close();
  }

  async #begin(world: LbcfWorld): Promise<void> {
    const clock = this.#clock();
    const common = { clock, random: Math.random };
    const access = findCluster({ kubeconfig: world.cluster.kubeconfig, env: {}, homeDir: "/" });
    const kubeHttp = new KubeHttp(new LiveCredentials(access, clock));
    const armHttp = new ArmHttp({ caFile: world.azure.caFile });
    const webhooks = new WebhookHttp({ hosts: LOCAL_HOSTS });
    this.#closers.push(
      () => kubeHttp.close(),
      () => armHttp.close(),
      () => webhooks.close(),
    );
    const kube = new KubeClient({
      transport: {
        send: (request) => this.#call(`${request.method} ${request.path}`, () => kubeHttp.send(request)),
        close: () => Promise.resolve(),
      },
      clock,
    });
    const arm = {
      send: (request: Parameters<ArmHttp["send"]>[0]) =>
        this.#call(`${request.method} ${request.url}`, () => armHttp.send(request)),
      close: () => Promise.resolve(),
    };
    const source = { kind: "file", path: world.azure.cloudConfigFile } as const;
    const loading = { source, clusterName: "kubernetes", env: {}, client: kube, log: SILENT_LOG };
    const { config, credentials } = await loadCloudConfig(loading);
    const cloud = await findCloud(credentials, arm, undefined);
    const tokens = new CachedTokens(signIn(credentials.credential, cloud, arm), clock);
    this.#controller = new Controller({
      ...common,
      config,
      kube,
      arm: new ArmClient({ cloud, transport: arm, tokens, ...common, userAgent: "killable" }),
      recorder: new EventRecorder({ ...common, client: kube, component: "killable" }),
      metrics: new Metrics(),
      log: SILENT_LOG,
      fence: OPEN_FENCE,
      classFilter: undefined,
      driftPolicy: "report",
      driftPeriodMs: 0,
      workers: 10,
      lbcf: {
        webhooks: (call) => this.#call(`POST ${call.url}`, () => webhooks.send(call)),
        retries: RETRIES,
        healthEveryMs: 3_600_000,
        lookEveryMs: 50,
      },
    });
    await this.#controller.start();
  }

  async #call<T>(name: string, send: () => Promise<T>): Promise<T> {
    if (this.#isKilled) return forever();
    if (BESIDES.test(name)) return this.#alive(await send());
    this.calls.push(name);
    const isLast = this.calls.length === this.#killPoint.call;
    if (isLast && this.#killPoint.when === "before") return this.#kill();
    const answer = await send();
    return isLast ? this.#kill() : this.#alive(answer);
  }

  #alive<T>(answer: T): T | Promise<T> {
    return this.#isKilled ? forever() : answer;
  }

  #kill(): Promise<never> {
    this.#isKilled = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    return forever();
  }

  #clock(): Clock {
    const setTimer = (afterMs: number, callback: () => void): Timer => {
      if (this.#isKilled) return { cancel: () => {} };
      const timer = realClock.setTimer(afterMs, () => {
        this.#timers.delete(timer);
        callback();
      });
      this.#timers.add(timer);
      return {
        cancel: () => {
          this.#timers.delete(timer);
          timer.cancel();
        },
      };
    };
    return { ...realClock, setTimer, sleep: (afterMs, signal) => sleepOn({ setTimer }, afterMs, signal) };
  }
}

function forever(): Promise<never> {
  return new Promise(() => {});
}
