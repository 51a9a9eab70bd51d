/** Real connections to the embedded API: trust, refusals, rotated tokens and certificates. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { findCluster } from "../../../src/kube/client/find-cluster.ts";
import { HttpTransport } from "../../../src/kube/client/http-transport.ts";
import { KubeClient } from "../../../src/kube/client/kube-client.ts";
import { isFailure, type KubeFailureKind } from "../../../src/kube/client/kube-failure.ts";
import type { ClusterAccess } from "../../../src/kube/client/cluster-access.ts";
import { LiveCredentials } from "../../../src/kube/client/live-credentials.ts";
import { NODES } from "../../../src/kube/client/resources.ts";
import { realClock } from "../../../src/main/real-clock.ts";
import { startKubernetes, type RunningKubernetes } from "../../../sandbox/kubernetes/index.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

let kubernetes: RunningKubernetes;
let other: RunningKubernetes;
let good: ClusterAccess;
const dir = mkdtempSync(join(tmpdir(), "azlb-transport-"));

before(async () => {
  [kubernetes, other] = await Promise.all([startKubernetes({ log: () => {} }), startKubernetes({ log: () => {} })]);
  good = findCluster({ kubeconfig: kubernetes.kubeconfig, env: {}, homeDir: "/" });
});

after(async () => {
  await Promise.all([kubernetes.close(), other.close()]);
  rmSync(dir, { recursive: true });
});

async function withClient(
  access: Partial<ClusterAccess>,
  work: (client: KubeClient) => Promise<unknown>,
  clock = realClock,
): Promise<void> {
  const transport = new HttpTransport(new LiveCredentials({ ...good, ...access }, clock));
  try {
    await work(new KubeClient({ transport, clock: realClock }));
  } finally {
    await transport.close();
  }
}

async function failsAs(kind: KubeFailureKind, message: RegExp, access: Partial<ClusterAccess>): Promise<void> {
  await withClient(access, (client) =>
    assert.rejects(client.list(NODES, {}), (error) => {
      assert.ok(isFailure(error, kind), String(error));
      assert.match(error.message, message);
      assert.ok(!error.message.includes("\n"), "one line");
      return true;
    }),
  );
}

test("the cluster of the kubeconfig is trusted and lets us in", async () => {
  await withClient({}, async (client) => {
    assert.deepEqual((await client.list(NODES, {})).items, []);
  });
});

test("a server whose certificate another authority signed is not spoken to", async () => {
  const ca = { kind: "text", text: readFileSync(other.caFile, "utf8") } as const;
  await failsAs("transient", /^GET \/api\/v1\/nodes: .*certificate/, { ca });
});

test("a server that is not there is told as such", async () => {
  await failsAs("transient", /^GET \/api\/v1\/nodes: connect ECONNREFUSED 127\.0\.0\.1:1$/, {
    server: "https://127.0.0.1:1",
  });
});

test("a wrong token is unauthorized", async () => {
  await failsAs("unauthorized", /^GET \/api\/v1\/nodes: 401 Unauthorized/, { identity: { kind: "token", token: "x" } });
});

test("a token that expired is read anew within the same request", async () => {
  const file = join(dir, "token");
  writeFileSync(file, "expired");
  const clock = new VirtualClock();
  await withClient(
    { identity: { kind: "tokenFile", file, field: "f" } },
    async (client) => {
      await assert.rejects(client.list(NODES, {}), /401/); // nothing better there yet
      writeFileSync(file, kubernetes.token);
      await clock.advance(10_000);
      assert.deepEqual((await client.list(NODES, {})).items, []);
    },
    clock,
  );
});

test("a rotated authority is trusted from the next connection on", async () => {
  const file = join(dir, "ca.crt");
  writeFileSync(file, readFileSync(other.caFile));
  const clock = new VirtualClock();
  await withClient(
    { ca: { kind: "file", file, field: "f" } },
    async (client) => {
      await assert.rejects(client.list(NODES, {}), /certificate/);
      writeFileSync(file, readFileSync(kubernetes.caFile));
      await clock.advance(60_000);
      assert.deepEqual((await client.list(NODES, {})).items, []);
    },
    clock,
  );
});

test("a proxy that the kubeconfig names is used", async () => {
  const asked: string[] = [];
  const proxy = createServer().on("connect", ({ url = "" }, client, head) => {
    asked.push(url);
    const { hostname, port } = new URL(`tcp://${url}`);
    const server = connect(Number(port), hostname, () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      server.write(head);
      server.pipe(client).pipe(server);
    });
    for (const socket of [client, server]) socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  try {
    await withClient({ proxyUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` }, async (client) => {
      assert.deepEqual((await client.list(NODES, {})).items, []);
    });
    assert.deepEqual(asked, [new URL(kubernetes.url).host]);
  } finally {
    proxy.close();
    proxy.closeAllConnections();
  }
});
