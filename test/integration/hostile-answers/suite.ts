/**
 * A controller to which Azure, or Kubernetes, says what cannot be right. It must live on, take nothing away that
 * stands, and be right again once it hears the truth.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

import { CrashBed } from "../crash/crash-bed.ts";
import { endState, type EndState } from "../crash/end-state.ts";
import { ControllerProcess } from "../support/controller-process.ts";
import { eventually } from "../support/eventually.ts";
import { BROKEN_TEXTS, WRONG_ARM, WRONG_KUBERNETES } from "../support/lies.ts";
import { LyingProxy, type Lie } from "../support/lying-proxy.ts";

const WITHIN_MS = 120_000;
const SERVICES = "/api/v1/namespaces/default/services";
/** Long enough to act on what was heard. */
const LISTEN_MS = 1_000;
const IDLE_TIMEOUT = "service.beta.kubernetes.io/azure-load-balancer-tcp-idle-timeout";

for (const [side, lies] of [
  ["azure", { ...BROKEN_TEXTS, ...WRONG_ARM }],
  ["kubernetes", { ...BROKEN_TEXTS, ...WRONG_KUBERNETES }],
] as const) {
  describe(`answers of ${side} that cannot be right`, () => {
    const directory = mkdtempSync(join(tmpdir(), "azlb-lies-"));
    let bed: CrashBed;
    let proxy: LyingProxy;
    let controller: ControllerProcess;
    let files: { kubeconfig: string; cloudConfig: string };
    let minutes = 5;

    before(async () => {
      bed = await CrashBed.make(directory);
      const target = side === "azure" ? bed.azure.armEndpoint : bed.kubernetes.url;
      proxy = await LyingProxy.before(target, join(directory, side, "pki"));
      files = filesBehind(target);
      await start(target);
      create("external", {});
      create("internal", { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" });
      await right();
    });
    after(async () => {
      await controller.kill();
      await proxy.close();
      await bed.close();
      rmSync(directory, { recursive: true, force: true });
    });

    for (const [name, lie] of Object.entries(lies)) {
      test(`${name}: it lives on and takes nothing away`, async () => {
        const before = standing(await endState(bed));
        await underLie(lie);
        assert.equal(controller.ended, false, `it died\n${controller.output}`);
        assert.deepEqual(missing(before, standing(await endState(bed))), []);
      });
    }

    test("once it hears the truth, everything is right again", async () => {
      if (side === "kubernetes") await lookAnew();
      change();
      await right();
      assert.equal(controller.ended, false);
    });

    async function start(target: string): Promise<void> {
      // tokens are for the real one
      proxy.lie = (text, { path }) =>
        path.startsWith("/metadata/") ? text.replace(/"audiences":\["[^"]*/, `"audiences":["${target}`) : text;
      controller = await ControllerProcess.start(files, ["--drift-check-period=1s"]);
      await controller.ready();
      proxy.lie = undefined;
    }

    async function underLie(lie: Lie): Promise<void> {
      const before = proxy.lies;
      proxy.lie = lie;
      try {
        if (side === "kubernetes") await lookAnew();
        change();
        await eventually(() => assert.ok(proxy.lies > before, "nobody asked"), WITHIN_MS);
        await delay(LISTEN_MS);
      } finally {
        proxy.lie = undefined;
      }
    }

    /** A new process, because one that has heard nonsense asks ever less often. */
    async function lookAnew(): Promise<void> {
      assert.equal(controller.ended, false, `it died\n${controller.output}`);
      await controller.kill();
      const { lie } = proxy;
      await start(bed.kubernetes.url);
      proxy.lie = lie;
      await bed.kubeFaults.send("POST", "/watches/cut", {});
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

    function change(): void {
      minutes = minutes === 5 ? 6 : 5;
      for (const name of ["external", "internal"]) {
        const annotations = { [IDLE_TIMEOUT]: String(minutes) };
        bed.user("PATCH", `${SERVICES}/${name}`, { metadata: { annotations } });
      }
      bed.user("PATCH", "/api/v1/nodes/vmss000000", { metadata: { labels: { minutes: String(minutes) } } });
    }

    async function right(): Promise<void> {
      await eventually(async () => {
        assert.deepEqual(await bed.plan(), { steps: [], rejected: [] }, controller.output);
        const ingresses = JSON.stringify((await endState(bed)).services).match(/"ip":/g) ?? [];
        assert.equal(ingresses.length, 2, controller.output);
      }, WITHIN_MS);
    }
  });
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

function missing(before: readonly string[], now: readonly string[]): readonly string[] {
  return before.filter((part) => !now.includes(part));
}
