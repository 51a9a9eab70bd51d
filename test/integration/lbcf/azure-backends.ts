/** The built-in driver end to end: pods and nodes as entries of Azure pools, beside what others put there. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { ACCOUNT_ANNOTATION } from "../../../src/core/admin-state/drain-account.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { FaultControl } from "../../support/fault-control.ts";
import type { KubeObject } from "../../support/kube-connection.ts";
import { condition, type ConditionOf, LbcfWorld, type PoolEntry } from "./world.ts";

const OUT_OF_SERVICE = { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" };

export function lbcfAzureBackends(name: string, open: ClusterOpener): void {
  describe(`lbcf-azure on ${name}`, { concurrency: false }, () => {
    let world: LbcfWorld;

    before(async () => {
      world = await LbcfWorld.open(open, { azure: { plainHttp: true } });
    });
    after(() => world.close());

    const addLoadBalancer = async (
      lb: string,
      lbSpec: object,
      attributes: object,
      more: object = {},
    ): Promise<void> => {
      await world.create("LoadBalancer", lb, { lbDriver: "lbcf-azure", lbSpec, attributes, ...more });
      await world.eventually(async () => {
        const made = await world.get("LoadBalancer", lb);
        assert.equal(condition(made, "AttributesSynced")?.status, "True", JSON.stringify(made.status));
      });
    };

    const podsOf = (app: string, lb: string, more: object = {}): object => ({
      loadBalancers: [lb],
      pods: { ports: [{ port: 8080 }], byLabel: { selector: { app } } },
      ...more,
    });

    const isIn = async (lb: string, ...ips: string[]): Promise<void> => {
      await world.eventually(async () => assert.deepEqual(await world.addresses(lb), ips));
    };

    const entryOf = async (lb: string, ip: string): Promise<PoolEntry | undefined> =>
      (await world.entries(lb)).find(({ properties }) => properties.ipAddress === ip);

    /** All are registered, and nothing is under way. */
    const isSettled = async (group: string, records: number): Promise<void> => {
      await world.eventually(async () => {
        const { status } = await world.get("BackendGroup", group);
        assert.deepEqual([status?.backends, status?.registeredBackends], [records, records]);
      });
    };

    const part = async (lb: string, list: string): Promise<{ name: string; properties: Record<string, unknown> }[]> => {
      const body = await world.arm(world.loadBalancerPath(lb));
      return (body?.properties[list] ?? []) as { name: string; properties: Record<string, unknown> }[];
    };

    test("a missing load balancer is made, with its frontend, rules, probes and pool", async () => {
      const rules = "80:8080/TCP,443:8443@http:8081/healthz";
      await addLoadBalancer("web", { name: "web-lb" }, { frontend: "internal", rules });
      const ports = (await part("web-lb", "loadBalancingRules")).map(({ properties }) => [
        properties["frontendPort"],
        properties["backendPort"],
      ]);
      assert.deepEqual(ports, [
        [80, 8080],
        [443, 8443],
      ]);
      const probes = (await part("web-lb", "probes")).map(({ properties }) => [
        properties["protocol"],
        properties["port"],
      ]);
      assert.deepEqual(probes, [
        ["Tcp", 8080],
        ["Http", 8081],
      ]);
    });

    test("a write that Azure refuses for now is told at once, and repeated", async () => {
      const faults = new FaultControl(world.azure.controlUrl);
      await faults.arm({
        method: ["PUT"],
        path: "**/loadBalancers/late-lb",
        count: 1,
        effect: { kind: "status", status: 500, code: "InternalServerError" },
      });
      await addLoadBalancer("late", { name: "late-lb" }, { frontend: "internal", rules: "80:8080/TCP" });
      const path = "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=late";
      await world.eventually(async () => {
        const { items = [] } = (await world.read(path)) as KubeObject & { items?: readonly Record<string, unknown>[] };
        const told = items.find(({ reason }) => reason === "FailedCreateLoadBalancer");
        assert.match(String(told?.["message"]), /load balancer "late-lb".*Next try in \d+ s\.$/);
      });
      await world.delete("LoadBalancer", "late");
    });

    test("ready pods are registered, and the group counts them", async () => {
      await world.create("BackendGroup", "web", podsOf("web", "web"));
      await world.addPod("web-0", { ip: "10.244.0.10" });
      await world.addPod("web-1", { ip: "10.244.0.11" });
      await world.addPod("web-2", { ip: "10.244.0.12", ready: false });
      await isIn("web-lb", "10.244.0.10", "10.244.0.11");
      await isSettled("web", 2);
    });

    test("the controller's entries are identified by name", async () => {
      for (const { name: entry } of await world.entries("web-lb")) assert.match(entry, /^azlb-kubernetes-[\da-f]{16}$/);
    });

    test("a pod that goes is taken out, and its record goes last", async () => {
      await world.killPod("web-0");
      await isIn("web-lb", "10.244.0.11");
      await world.eventually(async () => assert.equal((await world.records()).length, 1));
    });

    test("a pod with another address is followed", async () => {
      await world.setPod("web-1", { ip: "10.244.0.21" });
      await isIn("web-lb", "10.244.0.21");
      await isSettled("web", 1);
    });

    test("attributes that change are brought to Azure under IfNotSucc too", async () => {
      await world.change("LoadBalancer", "web", { spec: { attributes: { rules: "80:8080/TCP,81:8081" } } });
      await world.eventually(async () => {
        const ports = (await part("web-lb", "loadBalancingRules")).map(({ properties }) => properties["frontendPort"]);
        assert.deepEqual(ports, [80, 81]);
      });
    });

    test("an ending pod gets no new connections, and leaves when its grace is over", async () => {
      await world.addPod("web-3", { ip: "10.244.0.13" });
      await isIn("web-lb", "10.244.0.13", "10.244.0.21");
      await isSettled("web", 2);
      await world.terminatePod("web-3", 600);
      await world.eventually(async () =>
        assert.equal((await entryOf("web-lb", "10.244.0.13"))?.properties.adminState, "Down"),
      );
      await world.killPod("web-3");
      await isIn("web-lb", "10.244.0.21");
    });

    test("... also where the pod is still there then, as when its node is dead", async () => {
      await world.addPod("web-4", { ip: "10.244.0.14" });
      await isIn("web-lb", "10.244.0.14", "10.244.0.21");
      await isSettled("web", 2);
      await world.terminatePod("web-4", 3);
      await isIn("web-lb", "10.244.0.21");
      const { metadata } = await world.read("/api/v1/namespaces/default/pods/web-4");
      assert.ok(metadata["deletionTimestamp"]);
      await world.killPod("web-4");
    });

    test("a doomed node's pods go Down, and come back when it is not doomed any more", async () => {
      const node = world.azure.nodes[0]?.name ?? "";
      await world.patch(`/api/v1/nodes/${node}`, { spec: { taints: [OUT_OF_SERVICE] } });
      await world.eventually(async () =>
        assert.equal((await entryOf("web-lb", "10.244.0.21"))?.properties.adminState, "Down"),
      );
      await world.eventually(async () => {
        const { metadata } = await world.read(`/api/v1/nodes/${node}`);
        const { [ACCOUNT_ANNOTATION]: account = "{}" } = (metadata["annotations"] ?? {}) as Record<string, string>;
        const { pools = [] } = JSON.parse(account) as { pools?: readonly string[] };
        assert.ok(
          pools.some((pool) => pool.startsWith("web-lb/")),
          `in the account: ${account}`,
        );
      });
      await world.patch(`/api/v1/nodes/${node}`, { spec: { taints: [] } });
      await world.eventually(async () =>
        assert.equal((await entryOf("web-lb", "10.244.0.21"))?.properties.adminState, undefined),
      );
    });

    test("the account of a drain waits for pools of LBCF that Azure has refused", async () => {
      const node = world.azure.nodes[0]?.name ?? "";
      const accounted = async (): Promise<boolean> => {
        const { metadata } = await world.read(`/api/v1/nodes/${node}`);
        return ((metadata["annotations"] ?? {}) as Record<string, string>)[ACCOUNT_ANNOTATION] !== undefined;
      };
      await world.eventually(async () => assert.equal(await accounted(), false));
      const path = "**/loadBalancers/web-lb/backendAddressPools/*";
      const faults = new FaultControl(world.azure.controlUrl);
      const effect = { kind: "status", status: 403, code: "AuthorizationFailed" };
      const fault = await faults.arm({ method: ["PUT"], path, count: null, effect });
      await world.patch(`/api/v1/nodes/${node}`, { spec: { taints: [OUT_OF_SERVICE] } });
      await world.eventually(async () => assert.ok((await faults.hits(fault)) >= 2, "it is tried again"));
      assert.equal(await accounted(), false);
      await faults.clear();
      await world.eventually(async () => assert.equal(await accounted(), true));
      assert.equal((await entryOf("web-lb", "10.244.0.21"))?.properties.adminState, "Down");
      await world.patch(`/api/v1/nodes/${node}`, { spec: { taints: [] } });
      await world.eventually(async () =>
        assert.equal((await entryOf("web-lb", "10.244.0.21"))?.properties.adminState, undefined),
      );
    });

    test("a Down that was set before a restart is taken back after it", async () => {
      const node = world.azure.nodes[0]?.name ?? "";
      await world.patch(`/api/v1/nodes/${node}`, { spec: { taints: [OUT_OF_SERVICE] } });
      await world.eventually(async () =>
        assert.equal((await entryOf("web-lb", "10.244.0.21"))?.properties.adminState, "Down"),
      );
      await world.stopController();
      await world.patch(`/api/v1/nodes/${node}`, { spec: { taints: [] } });
      await world.startController();
      await world.eventually(async () =>
        assert.equal((await entryOf("web-lb", "10.244.0.21"))?.properties.adminState, undefined),
      );
    });

    test("two groups with one pod share its entry, which stays until the last has left", async () => {
      await world.create("BackendGroup", "web-too", podsOf("web", "web"));
      await isSettled("web-too", 1);
      assert.deepEqual(await world.addresses("web-lb"), ["10.244.0.21"]);
      await world.delete("BackendGroup", "web");
      await world.eventually(async () => assert.equal(await world.exists("BackendGroup", "web"), false));
      assert.deepEqual(await world.addresses("web-lb"), ["10.244.0.21"]);
      await world.delete("BackendGroup", "web-too");
      await isIn("web-lb");
    });

    test("a load balancer waits for its records, then goes with all its parts", async () => {
      await world.create("BackendGroup", "last", podsOf("web", "web"));
      await isIn("web-lb", "10.244.0.21");
      await world.delete("LoadBalancer", "web");
      await world.eventually(async () => {
        assert.equal(await world.exists("LoadBalancer", "web"), false);
        assert.equal(await world.arm(world.loadBalancerPath("web-lb")), undefined);
        assert.deepEqual(await world.records(), []);
      });
      await world.eventually(async () => {
        const group = await world.get("BackendGroup", "last");
        assert.equal(condition(group, "Accepted")?.reason, "LoadBalancerNotFound");
      });
      await world.delete("BackendGroup", "last");
    });

    describe("a load balancer that people use too", () => {
      const FOREIGN = [
        { name: "a-person", properties: { ipAddress: "10.240.9.1", adminState: "Up", shoeSize: 44 } },
        { name: "vmss000000", properties: { ipAddress: "10.240.9.2", adminState: "Down" } },
      ];
      const byName = (entries: readonly PoolEntry[], ours: boolean): readonly PoolEntry[] =>
        entries.filter((entry) => entry.name.startsWith("azlb-kubernetes-") === ours);

      before(async () => {
        await world.addSharedLoadBalancer(FOREIGN);
        await addLoadBalancer("shared", { name: "shared", pool: "mixed" }, { frontend: "theirs", rules: "80:8080" });
        await world.create("BackendGroup", "shared", podsOf("mixed", "shared"));
        await world.addPod("mixed-0", { ip: "10.244.1.10", labels: { app: "mixed" } });
        await world.addPod("mixed-1", { ip: "10.244.1.11", labels: { app: "mixed" } });
        await isSettled("shared", 2);
      });

      const foreign = async (): Promise<unknown> =>
        byName(await world.entries("shared"), false).map(({ name: entry, properties }) => ({ entry, ...properties }));
      const edit = async (change: (entries: readonly PoolEntry[]) => readonly unknown[]): Promise<void> => {
        const path = `${world.loadBalancerPath("shared")}/backendAddressPools/mixed`;
        const pool = await world.arm(path);
        assert.ok(pool);
        const entries = (pool.properties["loadBalancerBackendAddresses"] ?? []) as readonly PoolEntry[];
        const properties = { ...pool.properties, loadBalancerBackendAddresses: change(entries) };
        await world.putArm(path, { ...pool, properties });
      };
      const without = (ip: string) => (entries: readonly PoolEntry[]) =>
        entries.filter(({ properties }) => properties.ipAddress !== ip);

      test("it is adopted: only pool entries and rules are added", async () => {
        const body = await world.arm(world.loadBalancerPath("shared"));
        assert.deepEqual(body?.tags, { team: "them" });
        assert.deepEqual(
          (await part("shared", "frontendIPConfigurations")).map((each) => each.name),
          ["theirs"],
        );
        assert.equal((await part("shared", "loadBalancingRules")).length, 1);
      });

      test("an entry removed by hand stays removed under IfNotSucc, whatever else is written and restarted", async () => {
        await edit(without("10.244.1.10"));
        await world.addPod("mixed-2", { ip: "10.244.1.12", labels: { app: "mixed" } });
        await isSettled("shared", 3);
        await world.stopController();
        await world.startController();
        await world.addPod("mixed-3", { ip: "10.244.1.13", labels: { app: "mixed" } });
        await isSettled("shared", 4);
        assert.equal(await entryOf("shared", "10.244.1.10"), undefined);
      });

      test("what people have there is never touched: not by registering, not by leaving, not unknown fields", async () => {
        const before = await foreign();
        await world.killPod("mixed-3");
        await world.eventually(async () => assert.equal(await entryOf("shared", "10.244.1.13"), undefined));
        assert.deepEqual(await foreign(), before);
      });

      test("a foreign server that is added, or whose admin state is changed, stays as people have it", async () => {
        await edit((entries) => [
          ...entries.map((entry) =>
            entry.name === "a-person" ? { ...entry, properties: { ...entry.properties, adminState: "Down" } } : entry,
          ),
          { name: "newcomer", properties: { ipAddress: "10.240.9.3", colour: "blue" } },
        ]);
        const before = await foreign();
        await world.addPod("mixed-4", { ip: "10.244.1.14", labels: { app: "mixed" } });
        await isSettled("shared", 4);
        assert.deepEqual(await foreign(), before);
      });

      test("an address that a person has registered already is not added again, and the record says why", async () => {
        await world.addPod("mixed-5", { ip: "10.240.9.3", labels: { app: "mixed" } });
        await isSettled("shared", 5);
        const record = (await world.records()).find(({ status }) => status?.backendAddr === "10.240.9.3");
        assert.equal(record && condition(record, "Registered")?.reason, "ForeignEntry");
        assert.equal(
          (await world.entries("shared")).filter((each) => each.properties.ipAddress === "10.240.9.3").length,
          1,
        );
        await world.killPod("mixed-5");
        await isSettled("shared", 4);
        assert.equal((await entryOf("shared", "10.240.9.3"))?.name, "newcomer");
      });

      test("a Service of the cluster can live in the same load balancer's neighbour pool", async () => {
        await addLoadBalancer("with-services", { name: "kubernetes" }, { frontend: "public", rules: "8000:8080" });
        await world.create("BackendGroup", "with-services", podsOf("mixed", "with-services"));
        const port = { name: "http", port: 80, protocol: "TCP", targetPort: 80 };
        await world.post("/api/v1/namespaces/default/services", {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "web" },
          spec: { type: "LoadBalancer", ports: [port], selector: { app: "web" } },
        });
        await isSettled("with-services", 4);
        await world.eventually(async () => {
          assert.equal((await part("kubernetes", "loadBalancingRules")).length, 2);
          assert.equal((await part("kubernetes", "frontendIPConfigurations")).length, 2);
        });
        await world.remove("/api/v1/namespaces/default/services/web", {});
        await world.eventually(async () => assert.equal((await part("kubernetes", "loadBalancingRules")).length, 1));
        assert.equal(
          (await world.entries("kubernetes")).filter(({ name: entry }) => entry.startsWith("azlb-")).length,
          4,
        );
        await world.delete("BackendGroup", "with-services");
        await world.delete("LoadBalancer", "with-services");
        await world.eventually(async () => assert.equal(await world.exists("LoadBalancer", "with-services"), false));
        assert.equal(await world.arm(world.loadBalancerPath("kubernetes")), undefined);
      });

      test("leaving removes the controller's entries and rules, and nothing else", async () => {
        const before = await foreign();
        await world.delete("BackendGroup", "shared");
        await world.delete("LoadBalancer", "shared");
        await world.eventually(async () => assert.equal(await world.exists("LoadBalancer", "shared"), false));
        assert.deepEqual(await foreign(), before);
        assert.deepEqual(byName(await world.entries("shared"), true), []);
        assert.deepEqual(await part("shared", "loadBalancingRules"), []);
        assert.equal((await part("shared", "frontendIPConfigurations")).length, 1);
      });
    });

    test("under Always an entry removed by hand comes back", async () => {
      await addLoadBalancer("always", { name: "always-lb" }, { frontend: "internal" });
      await world.addPod("always-0", { ip: "10.244.2.10", labels: { app: "always" } });
      await world.create("BackendGroup", "always", podsOf("always", "always", { ensurePolicy: { policy: "Always" } }));
      await isSettled("always", 1);
      await world.stopController(); // the shortest period is long for a test; a new life begins with a period that is over
      const pool = (await part("always-lb", "backendAddressPools"))[0];
      const path = `${world.loadBalancerPath("always-lb")}/backendAddressPools/${pool?.name}`;
      await world.putArm(path, { properties: { loadBalancerBackendAddresses: [] } });
      await isIn("always-lb");
      await world.startController();
      await isIn("always-lb", "10.244.2.10");
    });

    test("nodes behind a Service's node port are registered, and followed", async () => {
      const [one, two] = world.azure.nodes;
      await world.post("/api/v1/namespaces/default/services", {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "np" },
        spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30_080 }], selector: { app: "x" } },
      });
      await addLoadBalancer("nodes", { name: "nodes-lb" }, { frontend: "internal", rules: "80:30080" });
      const service = { name: "np", port: { port: 80 } };
      await world.create("BackendGroup", "nodes", { loadBalancers: ["nodes"], service });
      await isIn("nodes-lb", ...[one?.ip ?? "", two?.ip ?? ""].sort());
      for (const [taints, state] of [
        [[OUT_OF_SERVICE], "Down"],
        [[], undefined],
      ] as const) {
        await world.patch(`/api/v1/nodes/${two?.name}`, { spec: { taints } });
        await world.eventually(async () =>
          assert.equal((await entryOf("nodes-lb", two?.ip ?? ""))?.properties.adminState, state),
        );
      }
      await world.patch(`/api/v1/nodes/${one?.name}`, { metadata: { labels: { role: "edge" } } });
      await world.change("BackendGroup", "nodes", { spec: { service: { nodeSelector: { role: "edge" } } } });
      await isIn("nodes-lb", one?.ip ?? "");
    });

    test("addresses that are no addresses, ports without a rule and a full pool are said on the record", async () => {
      await addLoadBalancer("bad", { name: "bad-lb" }, { frontend: "internal", rules: "80:8080", maxBackends: "1" });
      await world.create("BackendGroup", "static", { loadBalancers: ["bad"], static: ["10.244.3.1", "my-web.com"] });
      await world.addPod("bad-0", { ip: "10.244.3.10", labels: { app: "bad" } });
      await world.eventually(async () => assert.deepEqual(await world.addresses("bad-lb"), ["10.244.3.1"]));
      const ports = [{ port: 8080 }, { port: 9090 }];
      const pods = { ports, byLabel: { selector: { app: "bad" } } };
      await world.create("BackendGroup", "bad", { loadBalancers: ["bad"], pods });
      await world.eventually(async () => {
        const said = (await world.records())
          .filter(({ spec }) => spec["lbName"] === "bad")
          .map((record): ConditionOf | undefined => condition(record, "Registered"))
          .filter((each) => each?.status === "False")
          .map((each) => each?.message ?? "");
        assert.equal(said.length, 3, said.join("\n"));
        assert.ok(said.some((message) => message.includes('"my-web.com" is no IP address')));
        assert.ok(said.some((message) => message.includes("port 9090/TCP is the backend port of no rule")));
        assert.ok(said.some((message) => message.includes("maxBackends is 1")));
      });
      assert.deepEqual(await world.addresses("bad-lb"), ["10.244.3.1"]);
    });

    test("one group in several load balancers has a record in each", async () => {
      await addLoadBalancer("left", { name: "left-lb" }, { frontend: "internal" });
      await addLoadBalancer("right", { name: "right-lb" }, { frontend: "internal" });
      await world.addPod("both-0", { ip: "10.244.4.10", labels: { app: "both" } });
      await world.create("BackendGroup", "both", { ...podsOf("both", "left"), loadBalancers: ["left", "right"] });
      await isIn("left-lb", "10.244.4.10");
      await isIn("right-lb", "10.244.4.10");
      await world.change("BackendGroup", "both", { spec: { loadBalancers: ["right"] } });
      await isIn("left-lb");
      assert.deepEqual(await world.addresses("right-lb"), ["10.244.4.10"]);
    });

    test("a gated pod becomes ready when it is registered", async () => {
      await world.addPod("gated-0", { ip: "10.244.4.11", labels: { app: "both" }, gated: true });
      await world.eventually(async () => {
        const pod = (await world.read("/api/v1/namespaces/default/pods/gated-0")) as KubeObject & {
          status: { conditions: ConditionOf[] };
        };
        const gate = pod.status.conditions.find(({ type }) => type === "lbcf.tkestack.io/registered");
        assert.equal(gate?.status, "True");
      });
      assert.ok((await world.addresses("right-lb")).includes("10.244.4.11"));
    });
  });
}
