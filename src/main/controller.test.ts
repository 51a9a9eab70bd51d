/** The controller process when the API server fails or its port is taken. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { startAzure, type RunningAzure } from "../../sandbox/azure/index.ts";
import { startController, type ControllerProcessOptions } from "./controller.ts";

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

function options(): ControllerProcessOptions {
  const kubeconfig = join(folder, "kubeconfig");
  const cluster = { server: `http://127.0.0.1:${portOf(broken)}` };
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
  const ready = await fetch(controller.metricsUrl.replace("/metrics", "/readyz"));
  assert.equal(ready.status, 503);
  await controller.close();
  assert.equal(await controller.ended, "stopped");
});

test("a port that is taken fails the start", async () => {
  const health = { host: "127.0.0.1", port: portOf(broken) };
  await assert.rejects(startController({ ...options(), health }), { code: "EADDRINUSE" });
});
