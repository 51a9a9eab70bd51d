/**
 * What a user of LBCF's kinds sees with kubectl, on both API servers: a dry run that refuses what apply refuses and that no driver
 * hears of, short names, columns that tell the state, and whose a pool is when two ask for it.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, test } from "node:test";

import { stringify } from "yaml";

import { type RogueDriver, startRogueDriver } from "../integration/lbcf/rogue-driver.ts";
import { LbcfWorld } from "../integration/lbcf/world.ts";
import type { ClusterOpener } from "../support/cluster.ts";
import { controlPlaneBinaries } from "../support/control-plane-binaries.ts";
import { openEmbeddedCluster } from "../support/embedded-cluster.ts";
import { openRealCluster } from "../support/real-cluster.ts";

const V1BETA1 = "lbcf.tkestack.io/v1beta1";

interface Said {
  readonly code: number;
  readonly text: string;
}

for (const [name, open] of [
  ["kube-apiserver", openRealCluster],
  ["the embedded server", openEmbeddedCluster],
] as const) {
  describe(`LBCF with kubectl on ${name}`, { concurrency: false }, () => declare(open));
}

function declare(open: ClusterOpener): void {
  let world: LbcfWorld;
  let driver: RogueDriver;
  let binary: string;

  before(async () => {
    binary = (await controlPlaneBinaries(() => {})).kubectl;
    [world, driver] = await Promise.all([
      LbcfWorld.open(open, { azure: { plainHttp: true }, lbcf: { healthEveryMs: 3_600_000 } }),
      startRogueDriver(),
    ]);
    await world.addSharedLoadBalancer([]);
    await world.addPod("web-0", { ip: "10.244.0.10" });
    for (const each of ["one", "two"]) {
      await world.post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: each } });
    }
  });
  after(async () => {
    await world?.close();
    await driver?.close();
  });

  const kubectl = (args: readonly string[], objects: readonly object[] = []): Promise<Said> =>
    new Promise((done) => {
      const all = [...args, "--kubeconfig", world.cluster.kubeconfig];
      const child = execFile(binary, all, (error, stdout, stderr) =>
        done({ code: error === null ? 0 : Number(error.code), text: `${stdout}${stderr}` }),
      );
      child.stdin?.end(objects.map((each) => stringify(each)).join("---\n"));
    });
  const object = (kind: string, objectName: string, spec: object): object => ({
    apiVersion: kind === "Bind" ? "lbcf.tkestack.io/v1" : V1BETA1,
    kind,
    metadata: { name: objectName },
    spec,
  });
  /** A table of `kubectl get`: by column, of the only row. */
  const row = async (...args: readonly string[]): Promise<Readonly<Record<string, string>>> => {
    const { text } = await kubectl(["get", ...args]);
    const [head = "", line = ""] = text.trimEnd().split("\n");
    const starts = [...head.matchAll(/\S+/g)].map(({ 0: column, index }) => ({ column, index }));
    return Object.fromEntries(
      starts.map(({ column, index }, at) => [column, line.slice(index, starts[at + 1]?.index).trim()]),
    );
  };

  const pods = { ports: [{ port: 8080, protocol: "TCP" }], byLabel: { selector: { app: "web" } } };
  const good = (): readonly object[] => [
    object("LoadBalancerDriver", "wire", { driverType: "Webhook", url: driver.url }),
    object("LoadBalancer", "web", { lbDriver: "wire", lbSpec: { id: "1" } }),
    object("BackendGroup", "web", { loadBalancers: ["web"], pods }),
    object("Bind", "both", {
      loadBalancers: ["red", "blue"].map((each) => ({ name: each, driver: "wire", spec: { id: each } })),
      pods,
    }),
  ];
  const bad = [
    object("LoadBalancerDriver", "bad", { driverType: "Grpc", url: "http://a" }),
    object("LoadBalancer", "bad", { lbDriver: "wire", ensurePolicy: { policy: "Always", minPeriod: "5s" } }),
    object("BackendGroup", "bad", { loadBalancers: ["web"], pods, static: ["10.1.1.1"] }),
    object("Bind", "bad", { loadBalancers: [{ name: "a", driver: "wire", spec: {} }], pods }),
  ];

  test("a dry run on the server takes good manifests, stores nothing, and no driver hears of it", async () => {
    const said = await kubectl(["apply", "--dry-run=server", "-f", "-"], good());
    assert.equal(said.code, 0, said.text);
    assert.equal(said.text.match(/created \(server dry run\)/g)?.length, 4, said.text);
    const stored = await kubectl(["get", "lbcf"]);
    assert.match(stored.text, /No resources found/);
    assert.deepEqual(driver.asked, []);
  });

  test("a dry run refuses what apply refuses, in the same words", async () => {
    for (const each of bad) {
      const [dry, real] = await Promise.all([
        kubectl(["apply", "--dry-run=server", "-f", "-"], [each]),
        kubectl(["apply", "-f", "-"], [each]),
      ]);
      assert.equal(real.code, 1, real.text);
      assert.equal(dry.text, real.text);
    }
    assert.deepEqual(driver.asked, []);
  });

  test("short names and columns tell the state", async () => {
    assert.equal((await kubectl(["apply", "-f", "-"], good())).code, 0);
    await world.eventually(async () => {
      const group = await row("bg", "web");
      assert.deepEqual([group["BACKENDS"], group["REGISTERED"], group["ACCEPTED"]], ["1", "1", "True"]);
      const bind = await row("bind", "both");
      assert.deepEqual([bind["LBS"], bind["BACKENDS"], bind["REGISTERED"]], ["red,blue", "2", "2"]);
    });
    const record = await row("br", "-l", "lbcf.tkestack.io/backend-group=web");
    assert.deepEqual([record["LB"], record["ADDRESS"], record["REGISTERED"]], ["web", "10.244.0.10", "True"]);
    assert.match(record["SINCE"] ?? "", /^\d+[smh]/);
    const wide = await row("br", "-o", "wide", "-l", "lbcf.tkestack.io/backend-group=web");
    assert.equal(wide["POD"], "web-0");
    assert.deepEqual(pick(await row("lb"), "NAME", "DRIVER", "CREATED", "SYNCED"), ["web", "wire", "True", "True"]);
    assert.deepEqual(pick(await row("driver"), "NAME", "URL", "ACCEPTED"), ["wire", driver.url, "True"]);
  });

  test("of two that bind one pool, the second is told whose it is", async () => {
    const binding = object("LoadBalancer", "pool", {
      lbDriver: "lbcf-azure",
      lbSpec: { name: "shared", pool: "mixed" },
    });
    for (const namespace of ["one", "two"]) {
      assert.equal((await kubectl(["apply", "-n", namespace, "-f", "-"], [binding])).code, 0);
      await world.eventually(async () => {
        const { CREATED, REASON } = await row("lb", "pool", "-n", namespace, "-o", "wide");
        assert.ok(namespace === "one" ? CREATED === "True" : REASON === "Refused", `${CREATED} ${REASON}`);
      });
    }
    const { text } = await kubectl(["describe", "lb", "pool", "-n", "two"]);
    assert.match(text, /lbSpec\.pool "mixed" of load balancer "shared" is used by.*"?one/);
    const mine = await row("lb", "pool", "-n", "one", "-o", "wide");
    assert.notEqual(mine["REASON"], "Refused");
  });
}

function pick(from: Readonly<Record<string, string>>, ...columns: readonly string[]): readonly (string | undefined)[] {
  return columns.map((column) => from[column]);
}
