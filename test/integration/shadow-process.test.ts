/**
 * `azlb controller --shadow` as a process beside a controller that writes. The shadow signs in to Azure under a name of its own
 * and talks to Kubernetes through a proxy of its own, so that both servers tell what it asks for.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import type { AuditEntry } from "../../sandbox/azure/control/audit.ts";
import type { ShadowReport } from "../../src/core/shadow/shadow-report.ts";
import { CrashBed, type KubeObject } from "../crash/crash-bed.ts";
import { runAzlb } from "../support/azlb-process.ts";
import { ControllerProcess } from "../support/controller-process.ts";
import { eventually } from "../support/eventually.ts";
import { reusablePort } from "../support/reusable-port.ts";
import { RewritingProxy } from "../support/rewriting-proxy.ts";

const WITHIN_MS = 120_000;
const SERVICES = "/api/v1/namespaces/default/services";

describe("the shadow as a process", () => {
  const directory = mkdtempSync(join(tmpdir(), "azlb-shadow-"));
  let bed: CrashBed;
  let incumbent: ControllerProcess;
  let shadow: ControllerProcess;
  let proxy: RewritingProxy;
  let url: string;

  before(async () => {
    bed = await CrashBed.make(directory);
    incumbent = await bed.startController();
    serve("first");
    await served("first");
    proxy = await RewritingProxy.before(bed.kubernetes.url, join(directory, "kubernetes", "pki"));
    const port = await reusablePort();
    url = `http://127.0.0.1:${port}`;
    const flags = ["--shadow", "--shadow-settle=400ms", `--shadow-port=${port}`];
    shadow = await ControllerProcess.start(shadowFiles(), flags);
    await shadow.ready();
  });
  after(async () => {
    await shadow.stop();
    await incumbent.stop();
    await proxy.close();
    await bed.close();
    rmSync(directory, { recursive: true, force: true });
  });

  test("it predicts what the other controller does, and says so in text, as JSON and as a page", async () => {
    serve("second");
    await served("second");
    await eventually(async () => {
      const { changes, scores } = await report();
      assert.ok(changes.agreed >= 1 && scores["default/second"]?.agreed === 1, JSON.stringify(changes));
    }, WITHIN_MS);
    const page = join(directory, "report.html");
    let stdout = "";
    await eventually(async () => {
      const ended = await runAzlb("shadow", "report", "--url", url, "--html", page);
      assert.equal(ended.code, 0, ended.stdout + ended.stderr);
      ({ stdout } = ended);
      assert.match(stdout, /^azlb would write nothing for 2 of 2 Services$/m);
    }, WITHIN_MS);
    assert.match(
      stdout,
      /^\d+ changes? of the incumbent: [1-9]\d* as predicted, 0 explained by known differences, 0 different$/m,
    );
    assert.match(readFileSync(page, "utf8"), /Nothing for 2 of 2 Services/);
  });

  test("where Azure throttles it stays away, and says so", async () => {
    // longer than the rest of this test takes on any machine
    const effect = { kind: "status", status: 429, code: "TooManyRequests", retryAfterSeconds: 300 };
    await bed.azureFaults.arm({ method: ["GET"], caller: "shadow", count: 1, effect });
    serve("third");
    await served("third");
    await eventually(async () => assert.match((await report()).problem ?? "", /Azure throttles reads/), WITHIN_MS);
    const metrics = await (await fetch(`${shadow.metricsUrl}/metrics`)).text();
    assert.match(metrics, /^azlb_shadow_looks_total\{outcome="throttled"\} 1$/m);
    const seen = (await asked()).length;
    serve("fourth");
    await served("fourth");
    await eventually(async () => assert.equal((await report()).services, 4), WITHIN_MS);
    assert.equal((await asked()).length, seen, "it reads nothing until the time is over, and predicts all the same");
  });

  test("it has asked both servers for nothing but reads", async () => {
    const calls = await asked();
    assert.ok(calls.length > 0);
    assert.deepEqual(
      calls.filter((call) => !call.startsWith("GET ")),
      [],
    );
    assert.deepEqual(proxy.writes, []);
    assert.deepEqual(
      bed.objects("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases").map(({ metadata }) => metadata.name),
      ["aks-managed-resource-locker"],
      "the lock is the other controller's",
    );
  });

  test("no shadow at that address: told, with exit code 2", async () => {
    const { code, stderr } = await runAzlb("shadow", "report", "--url", "http://127.0.0.1:1");
    assert.match(stderr, /no shadow answers at http:\/\/127\.0\.0\.1:1.*start it with azlb controller --shadow/);
    assert.equal(code, 2);
  });

  function shadowFiles(): { kubeconfig: string; cloudConfig: string; env: Readonly<Record<string, string>> } {
    const { aadClientId: _id, aadClientSecret: _secret, ...config } = bed.azure.cloudConfig as Record<string, unknown>;
    const identity = { useManagedIdentityExtension: true, userAssignedIdentityID: "shadow" };
    const cloudConfig = join(directory, "shadow.json");
    writeFileSync(cloudConfig, JSON.stringify({ ...config, ...identity }));
    const kubeconfig = join(directory, "shadow.kubeconfig");
    writeFileSync(kubeconfig, readFileSync(bed.kubernetes.kubeconfig, "utf8").replace(bed.kubernetes.url, proxy.url));
    return { kubeconfig, cloudConfig, env: bed.azure.env };
  }

  async function report(): Promise<ShadowReport> {
    return (await fetch(`${url}/shadow/report`)).json() as Promise<ShadowReport>;
  }

  /** What the shadow asked of Azure. */
  async function asked(): Promise<string[]> {
    const { entries } = (await bed.azureFaults.send("GET", "/audit")) as { entries: readonly AuditEntry[] };
    return entries.filter(({ caller }) => caller === "shadow").map(({ method, path }) => `${method} ${path}`);
  }

  function serve(name: string): void {
    const spec = { type: "LoadBalancer", selector: { app: name }, ports: [{ port: 80 }] };
    bed.user("POST", SERVICES, { metadata: { name }, spec });
  }

  async function served(name: string): Promise<void> {
    await eventually(() => {
      const { status } = bed.user("GET", `${SERVICES}/${name}`) as KubeObject;
      const { ingress = [] } = (status as { loadBalancer: { ingress?: readonly { ip: string }[] } }).loadBalancer;
      assert.equal(ingress.length, 1, `${name} has no address\n${incumbent.output}`);
    }, WITHIN_MS);
  }
});
