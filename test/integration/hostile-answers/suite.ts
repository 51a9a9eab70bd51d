/**
 * A controller to which Azure, or Kubernetes, says what cannot be right. It must live on, take nothing away that
 * stands, and be right again once it gets valid answers. It runs in this process, where an uncaught error fails
 * the test; it waits by a accelerated clock, since what has heard nonsense asks ever less often.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

import type { Log } from "../../../src/core/util/log.ts";
import { startController, type RunningController } from "../../../src/main/controller.ts";
import { CrashBed, type KubeObject } from "../../crash/crash-bed.ts";
import { endState, type EndState } from "../../crash/end-state.ts";
import { eventually } from "../../support/eventually.ts";
import { acceleratedClock } from "../../support/accelerated-clock.ts";
import { RewritingProxy, type Rewrite } from "../../support/rewriting-proxy.ts";
import { assertSettled } from "../../support/settled-plan.ts";
import { changeAll, createService, USUAL, type HostileCluster } from "./clusters.ts";

const WITHIN_MS = 120_000;
const SERVICES = "/api/v1/namespaces/default/services";
/** Long enough to act on what was heard; on a slow machine less is shown. */
const LISTEN_MS = 500;
/** Minutes of backoff are seconds. */
const SPEED = 20;

export function hostileAnswersSuite(
  side: "azure" | "kubernetes",
  rewrites: Readonly<Record<string, Rewrite>>,
  cluster: HostileCluster = USUAL,
): void {
  describe(`answers of ${side} that cannot be right, on ${cluster.name}`, () => {
    const directory = mkdtempSync(join(tmpdir(), "azlb-answers-"));
    const said: string[] = [];
    let bed: CrashBed;
    let proxy: RewritingProxy;
    let controller: RunningController;
    /** What no change of ours touches. */
    let lasting: readonly string[];
    let changes = 0;

    before(async () => {
      bed = await CrashBed.make(directory, cluster.shape);
      const target = side === "azure" ? bed.azure.armEndpoint : bed.kubernetes.url;
      proxy = await RewritingProxy.before(target, join(directory, side, "pki"));
      await start(target);
      cluster.prepare?.(bed);
      for (const [name, service] of Object.entries(cluster.lasting)) createService(bed, name, service);
      await right();
      lasting = standing(await endState(bed));
      for (const [name, service] of Object.entries(cluster.passing)) createService(bed, name, service);
      await right();
    });
    after(async () => {
      await controller.close();
      await proxy.close();
      await bed.close();
      rmSync(directory, { recursive: true, force: true });
    });

    for (const [name, rewrite] of Object.entries(rewrites)) {
      test(`${name}: it lives on and takes nothing away`, async () => {
        await whileRewriting(rewrite);
        const now = new Set(standing(await endState(bed)));
        assert.deepEqual(
          lasting.filter((part) => !now.has(part)),
          [],
        );
      });
    }

    test("once it gets valid answers, everything is right again", async () => {
      changeAll(bed, cluster, ++changes);
      await right();
    });

    async function start(target: string): Promise<void> {
      // tokens are for the real one
      proxy.rewrite = (text, { path }) =>
        path.startsWith("/metadata/") ? text.replace(/"audiences":\["[^"]*/, `"audiences":["${target}`) : text;
      const { kubeconfig, cloudConfig } = filesBehind(target);
      controller = await startController({
        kubeconfig,
        cloudConfig: { kind: "file", path: cloudConfig },
        clusterName: "kubernetes",
        env: {},
        leaderElect: false,
        driftPeriodMs: 1_000 * SPEED,
        clock: acceleratedClock(SPEED),
        log: logTo(said),
      });
      await eventually(async () => assert.ok((await fetch(readyUrl(controller))).ok), WITHIN_MS);
      proxy.rewrite = undefined;
    }

    async function whileRewriting(rewrite: Rewrite): Promise<void> {
      const before = proxy.rewrites;
      proxy.rewrite = rewrite;
      try {
        if (side === "kubernetes") await bed.kubeFaults.send("POST", "/watches/cut", {});
        changeAll(bed, cluster, ++changes);
        await eventually(() => assert.ok(proxy.rewrites > before, "no client asked"), WITHIN_MS);
        await delay(LISTEN_MS);
      } finally {
        proxy.rewrite = undefined;
      }
    }

    /** Points the controller at the proxy instead of at the target. */
    function filesBehind(target: string): { kubeconfig: string; cloudConfig: string } {
      const files = { kubeconfig: bed.kubernetes.kubeconfig, cloudConfig: bed.azure.cloudConfigFile };
      const key = side === "azure" ? "cloudConfig" : "kubeconfig";
      const file = join(directory, `${key}-behind`);
      writeFileSync(file, readFileSync(files[key], "utf8").replaceAll(target, proxy.url));
      return { ...files, [key]: file };
    }

    async function right(): Promise<void> {
      await eventually(async () => {
        const log = said.slice(-20).join("\n");
        assertSettled(await bed.plan(), log);
        const ingresses = JSON.stringify((await endState(bed)).services).match(/"ip":/g) ?? [];
        assert.equal(ingresses.length, bed.objects(SERVICES).filter(isBalanced).length, log);
      }, WITHIN_MS);
    }
  });
}

function isBalanced({ spec }: KubeObject): boolean {
  return (spec as { type?: string }).type === "LoadBalancer";
}

function readyUrl({ metricsUrl }: RunningController): string {
  return metricsUrl.replace(/metrics$/, "readyz");
}

function logTo(lines: string[]): Log {
  const note = (message: string): void => void lines.push(message);
  return { info: note, warn: note, error: note };
}

/** The ids of all resources and the names of all their parts, and what Services have. */
function standing({ azure, services, memberLists }: EndState): readonly string[] {
  const found: string[] = [];
  const walk = (value: unknown, path: string): void => {
    if (Array.isArray(value)) return value.forEach((item: unknown) => walk(item, path));
    if (value === null || typeof value !== "object") return;
    const { name } = value as { name?: unknown };
    const here = typeof name === "string" ? `${path}/${name}` : path;
    if (typeof name === "string") found.push(here);
    for (const [key, item] of Object.entries(value)) walk(item, `${here}.${key}`);
  };
  walk(azure, "");
  for (const [service, value] of Object.entries(services)) {
    found.push(`${service}: ${JSON.stringify((value as { status: unknown }).status)}`);
  }
  const members = Object.entries(memberLists).flatMap(([list, value]) =>
    (value as { members: string }).members.split("\n").map((member) => `${list}: ${member}`),
  );
  return [...found, ...Object.keys(azure), ...members];
}
