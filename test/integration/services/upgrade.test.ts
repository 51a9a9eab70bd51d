/**
 * An upgrade: the controller of today on the state that a released version left, in Azure and in the cluster. It writes nothing to
 * Azure, leaves every Service as it was, and serves what is asked of it then.
 */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";

import { SILENT_LOG } from "../../../src/core/util/log.ts";
import { SERVICES, type KubeObject } from "../../../src/kube/client/resources.ts";
import { openKubeClient } from "../../../src/main/kube-access.ts";
import { startSandbox, type RunningSandbox } from "../../../src/main/sandbox.ts";
import { eventually } from "../../support/eventually.ts";
import { FaultControl } from "../../support/fault-control.ts";

const FIXTURES = resolve(import.meta.dirname, "../../fixtures");
const WITHIN_MS = 60_000;

interface StoredService extends KubeObject {
  readonly metadata: KubeObject["metadata"] & { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: unknown;
  readonly status: { readonly loadBalancer: { readonly ingress?: readonly { readonly ip?: string }[] } };
}

for (const state of readdirSync(FIXTURES).filter((name) => name.startsWith("state-"))) {
  describe(`an upgrade from ${state.replace("state-", "")}`, () => {
    let sandbox: RunningSandbox;
    let dataDir: string;
    let close: () => Promise<void>;
    let services: () => Promise<readonly StoredService[]>;
    let left: readonly StoredService[];
    before(async () => {
      dataDir = mkdtempSync(join(tmpdir(), "azlb-upgrade-"));
      cpSync(join(FIXTURES, state), dataDir, { recursive: true });
      const options = { azure: { dataDir }, dataDir, log: SILENT_LOG };
      const untouched = await startSandbox({ ...options, withController: false });
      left = await listed(untouched.kubeconfig);
      await untouched.close();
      sandbox = await startSandbox({ ...options, withController: true });
      const kube = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
      close = kube.close;
      services = async () => (await kube.client.list<StoredService>(SERVICES, {})).items;
    });
    after(async () => {
      await close();
      await sandbox.close();
      rmSync(dataDir, { recursive: true });
    });

    test("nothing is written to Azure, and every Service is as it was", async () => {
      await eventually(async () => {
        const metrics = await (await fetch(sandbox.controller?.metricsUrl ?? "")).text();
        assert.match(metrics, /^azlb_services\{state="served"\} 5$/m);
        assert.match(metrics, /^azlb_services\{state="refused"\} 1$/m);
        assert.match(metrics, /^loadbalancer_adminstate_draining_nodes\{reason="[^"]+"\} 1$/m);
      }, WITHIN_MS);
      assert.deepEqual(await writes(sandbox), []);
      assert.deepEqual((await services()).map(lasting), left.map(lasting));
    });

    test("a new Service is served beside them", async () => {
      const { client, close: end } = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
      const spec = { type: "LoadBalancer", selector: { app: "new" }, ports: [{ port: 8080 }] };
      await client.create(SERVICES, { metadata: { namespace: "default", name: "new" }, spec });
      await end();
      await eventually(async () => {
        const found = (await services()).find(({ metadata }) => metadata.name === "new");
        assert.equal(found?.status.loadBalancer.ingress?.length, 1);
      }, WITHIN_MS);
      const others = (await services()).filter(({ metadata }) => metadata.name !== "new");
      assert.deepEqual(others.map(lasting), left.map(lasting));
    });
  });
}

async function listed(kubeconfig: string): Promise<readonly StoredService[]> {
  const { client, close } = openKubeClient({ kubeconfig, userAgent: "test" });
  try {
    return (await client.list<StoredService>(SERVICES, {})).items;
  } finally {
    await close();
  }
}

/** Without what the API server counts, and the controller's note of what is applied: it was made from other fields of the config. */
function lasting({ metadata: { name, annotations, uid }, spec, status }: StoredService): unknown {
  return { name, annotations: { ...annotations, "azlb.io/applied": "" }, uid, spec, status };
}

async function writes({ azure }: RunningSandbox): Promise<string[]> {
  const { entries } = (await new FaultControl(azure.controlUrl).send("GET", "/audit")) as {
    entries: { method: string; path: string }[];
  };
  const changes = entries.filter(({ method, path }) => method !== "GET" && !/\/oauth2\//.test(path));
  return changes.map(({ method, path }) => `${method} ${path}`);
}
