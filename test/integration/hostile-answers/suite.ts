/**
 * A controller to which Azure, or Kubernetes, says what cannot be right. It must live on, take nothing away that
 * stands, and be right again once it hears the truth. It runs in this process, where an error that nobody catches fails
 * the test; it waits by a hurried clock, since what has heard nonsense asks ever less often.
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
import { hurriedClock } from "../../support/hurried-clock.ts";
import { LyingProxy, type Lie } from "../../support/lying-proxy.ts";
import { assertSettled } from "../../support/settled-plan.ts";

const WITHIN_MS = 120_000;
const SERVICES = "/api/v1/namespaces/default/services";
/** Long enough to act on what was heard; on a slow machine less is shown. */
const LISTEN_MS = 500;
/** Minutes of backoff are seconds. */
const HURRY = 20;
const NAMES = ["external", "internal", "picky"];
const PREFIX = "service.beta.kubernetes.io/";

export function hostileAnswersSuite(side: "azure" | "kubernetes", lies: Readonly<Record<string, Lie>>): void {
  describe(`answers of ${side} that cannot be right`, () => {
    const directory = mkdtempSync(join(tmpdir(), "azlb-lies-"));
    const said: string[] = [];
    let bed: CrashBed;
    let proxy: LyingProxy;
    let controller: RunningController;
    /** What no change of ours touches. */
    let lasting: readonly string[];
    let changes = 0;

    before(async () => {
      bed = await CrashBed.make(directory);
      const target = side === "azure" ? bed.azure.armEndpoint : bed.kubernetes.url;
      proxy = await LyingProxy.before(target, join(directory, side, "pki"));
      await start(target);
      create("external", {});
      create("internal", { [`${PREFIX}azure-load-balancer-internal`]: "true" });
      await right();
      lasting = standing(await endState(bed));
      create("picky", { [`${PREFIX}azure-allowed-ip-ranges`]: "192.0.2.0/32" });
      await right();
    });
    after(async () => {
      await controller.close();
      await proxy.close();
      await bed.close();
      rmSync(directory, { recursive: true, force: true });
    });

    for (const [name, lie] of Object.entries(lies)) {
      test(`${name}: it lives on and takes nothing away`, async () => {
        await underLie(lie);
        const now = new Set(standing(await endState(bed)));
        assert.deepEqual(
          lasting.filter((part) => !now.has(part)),
          [],
        );
      });
    }

    test("once it hears the truth, everything is right again", async () => {
      change();
      await right();
    });

    async function start(target: string): Promise<void> {
      // tokens are for the real one
      proxy.lie = (text, { path }) =>
        path.startsWith("/metadata/") ? text.replace(/"audiences":\["[^"]*/, `"audiences":["${target}`) : text;
      const { kubeconfig, cloudConfig } = filesBehind(target);
      controller = await startController({
        kubeconfig,
        cloudConfig: { kind: "file", path: cloudConfig },
        clusterName: "kubernetes",
        env: {},
        leaderElect: false,
        driftPeriodMs: 1_000 * HURRY,
        clock: hurriedClock(HURRY),
        log: logTo(said),
      });
      await eventually(async () => assert.ok((await fetch(readyUrl(controller))).ok), WITHIN_MS);
      proxy.lie = undefined;
    }

    async function underLie(lie: Lie): Promise<void> {
      const before = proxy.lies;
      proxy.lie = lie;
      try {
        if (side === "kubernetes") await bed.kubeFaults.send("POST", "/watches/cut", {});
        change();
        await eventually(() => assert.ok(proxy.lies > before, "nobody asked"), WITHIN_MS);
        await delay(LISTEN_MS);
      } finally {
        proxy.lie = undefined;
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

    function create(name: string, annotations: Readonly<Record<string, string>>): void {
      const spec = { type: "LoadBalancer", selector: { app: name }, ports: [{ port: 80 }] };
      bed.user("POST", SERVICES, { metadata: { name, annotations }, spec });
    }

    /** Something of every resource, so that each is written under some lie. */
    function change(): void {
      changes++;
      const annotations = {
        [`${PREFIX}azure-load-balancer-tcp-idle-timeout`]: String(5 + (changes % 20)),
        [`${PREFIX}azure-pip-tags`]: `changes=${changes}`,
      };
      const ranges = { [`${PREFIX}azure-allowed-ip-ranges`]: `192.0.2.${changes}/32` };
      for (const name of NAMES) {
        const wanted = name === "picky" ? { ...annotations, ...ranges } : annotations;
        bed.user("PATCH", `${SERVICES}/${name}`, { metadata: { annotations: wanted } });
      }
      bed.user("PATCH", "/api/v1/nodes/vmss000000", { metadata: { labels: { changes: String(changes) } } });
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
  return [...found, ...Object.keys(azure), JSON.stringify(memberLists)];
}
