/** The controller process when the API server fails, its port is taken, or another process leads. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { startAzure, type RunningAzure } from "../../sandbox/azure/index.ts";
import { eventually } from "../../test/support/eventually.ts";
import { startController, type ControllerProcessOptions, type RunningController } from "./controller.ts";

const QUIET = { info: () => {}, warn: () => {}, error: () => {} };

let azure: RunningAzure;
let folder: string;
let broken: Server;
before(async () => {
  azure = await startAzure({});
  folder = mkdtempSync(join(tmpdir(), "azlb-test-"));
  broken = createServer((_, response) => response.writeHead(500).end());
  await new Promise<void>((resolve) => broken.listen(0, "127.0.0.1", resolve));
});
after(async () => {
  broken.closeAllConnections();
  broken.close();
  rmSync(folder, { recursive: true });
  await azure.close();
});

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function options(server = broken): ControllerProcessOptions {
  const kubeconfig = join(folder, "kubeconfig");
  const cluster = { server: `http://127.0.0.1:${portOf(server)}` };
  const context = { cluster: "broken", user: "nobody" };
  const config = {
    clusters: [{ name: "broken", cluster }],
    users: [{ name: "nobody", user: {} }],
    contexts: [{ name: "broken", context }],
    "current-context": "broken",
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  const cloudConfig = { kind: "file", path: azure.cloudConfigFile } as const;
  return { kubeconfig, cloudConfig, clusterName: "kubernetes", env: {}, leaderElect: false, log: QUIET };
}

test("it stops although its caches were never filled", async () => {
  const controller = await startController(options());
  try {
    assert.deepEqual(await statuses(controller), { livez: 200, healthz: 200, startz: 503, readyz: 503, leaderz: 503 });
  } finally {
    await controller.close();
  }
  assert.equal(await controller.ended, "stopped");
});

test("it has not started while the Lease cannot be read", async () => {
  const controller = await startController({ ...options(), leaderElect: true });
  try {
    assert.deepEqual(await statuses(controller), { livez: 200, healthz: 200, startz: 503, readyz: 503, leaderz: 503 });
  } finally {
    await controller.close();
  }
});

test("a standby is ready to take over, and does not lead", async () => {
  const spec = { holderIdentity: "another", leaseDurationSeconds: 15 };
  const lease = JSON.stringify({ metadata: { name: "azlb-controller", resourceVersion: "1" }, spec });
  const kube = createServer((_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(lease),
  );
  await new Promise<void>((resolve) => kube.listen(0, "127.0.0.1", resolve));
  try {
    const controller = await startController({ ...options(kube), leaderElect: true });
    try {
      await eventually(async () => {
        assert.deepEqual(await statuses(controller), {
          livez: 200,
          healthz: 200,
          startz: 200,
          readyz: 200,
          leaderz: 503,
        });
      }, 10_000);
    } finally {
      await controller.close();
    }
  } finally {
    kube.close();
    kube.closeAllConnections();
  }
});

async function statuses({ metricsUrl }: RunningController): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number> = {};
  for (const path of ["livez", "healthz", "startz", "readyz", "leaderz"]) {
    found[path] = (await fetch(metricsUrl.replace(/metrics$/, path))).status;
  }
  return found;
}

test("a port that is taken fails the start", async () => {
  const health = { host: "127.0.0.1", port: portOf(broken) };
  await assert.rejects(startController({ ...options(), health }), { code: "EADDRINUSE" });
});
