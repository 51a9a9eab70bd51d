/**
 * The read-only API against what the API server and the emulated Azure hold: each view says what is there, as its OpenAPI
 * document describes it, and but for probes looking costs no call to Azure.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { OVERVIEW, ROUTES } from "../../../src/api/routes.ts";
import { OPENAPI } from "../../../src/api/openapi.ts";
import { ApiClient } from "../../support/api-client.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { problemsOf } from "../../support/open-api.ts";
import { FaultControl } from "../../support/fault-control.ts";
import { propertiesOf, ServiceRig, WITHIN_MS } from "../../support/service-rig.ts";
import { editTimeout } from "../../support/situations.ts";
import { NODES } from "../../../src/kube/client/resources.ts";
import { ensureEndpoints } from "../../../src/main/sandbox-endpoints.ts";

const SWITCHES = { list: () => Promise.resolve([]), flip: () => Promise.resolve({}) };

test("the document describes the paths that there are", () => {
  const described = Object.keys(OPENAPI.paths).filter((path) => path !== "/api/v1/changes");
  assert.deepEqual(described.toSorted(), [OVERVIEW, ...ROUTES].map(({ path }) => path).toSorted());
});

describe("the views of the API", () => {
  let rig: ServiceRig;
  let api: ApiClient;
  before(async () => {
    rig = await ServiceRig.open(openEmbeddedCluster, {
      azure: { topology: { nodes: 3, foreign: true } },
      controller: { api: { host: "127.0.0.1", port: 0, sandbox: { switches: SWITCHES } } },
    });
    api = new ApiClient(rig.apiUrl);
  });
  after(() => rig.close());

  /** As the document describes it. */
  const view = async <View>(path: string, schema: string): Promise<View> => {
    const answer = await api.get<View>(path);
    assert.deepEqual(problemsOf(answer, schema), []);
    return answer;
  };

  interface Line {
    name: string;
    state: string;
    attention: string;
    message?: string;
    fix?: string;
    addresses: string[];
    isDrifted: boolean;
  }
  interface Detail extends Line {
    differences?: string;
    frontends: { loadBalancer: string; address: string; rules: { port: number; pool: string }[] }[];
    pools: {
      counts: { members: number; down: number; foreign: number };
      members: { name: string; adminState: string }[];
    }[];
    access: { access: string; sources: string[]; ports: string[] }[];
  }
  const detail = (name: string): Promise<Detail> => view(`/api/v1/services/default/${name}`, "ServiceDetail");

  test("a Service that is served: address, rule, pool, nodes, who may reach it, and the write that made it", async () => {
    await rig.apply({ name: "web", spec: { loadBalancerSourceRanges: ["203.0.113.0/24"] } });
    const [address] = await rig.served("web");
    await eventually(async () => assert.equal((await detail("web")).state, "served"), WITHIN_MS);
    const { frontends, pools, access, addresses } = await detail("web");
    assert.deepEqual(addresses, [address]);
    assert.deepEqual(
      frontends.map((each) => [each.address, each.loadBalancer, each.rules.map(({ port, pool }) => [port, pool])]),
      [[address, "kubernetes", [[80, "kubernetes"]]]],
    );
    assert.deepEqual(
      pools[0]?.members.map(({ name }) => name).toSorted(),
      rig.azure.nodes.map(({ name }) => name).toSorted(),
    );
    assert.deepEqual(
      access.filter(({ ports }) => ports.includes("80")).map((rule) => [rule.access, rule.sources]),
      [["Allow", ["203.0.113.0/24"]]],
    );
    interface Writes {
      items: {
        resource: string;
        services: string[];
        requestId?: string;
        changes: { summary: string };
        outcome: string;
      }[];
    }
    await eventually(async () => {
      const { items } = await view<Writes>("/api/v1/writes", "Writes");
      const write = items.find((each) => each.resource === "kubernetes" && each.services.includes("default/web"));
      assert.match(write?.changes.summary ?? "", /1 frontend and .*1 rule|1 rule and .*1 frontend|1 probe/);
      assert.match(write?.requestId ?? "", /^[\da-f-]{36}$/);
      assert.equal(write?.outcome, "written");
    }, WITHIN_MS);
  });

  test("who can reach it: the rule that decides is named", async () => {
    interface Reach {
      items: { verdict: string; why: string; path: { hop: string; text: string }[] }[];
    }
    const reach = (query: string): Promise<Reach> => view(`/api/v1/services/default/web/reach?${query}`, "Reach");
    const [idle] = (await reach("from=203.0.113.9&port=80")).items;
    assert.equal(idle?.why, "no endpoint of the Service serves on any node");
    await ensureEndpoints(rig.kube, "default", "web");
    await eventually(async () => {
      const [inside] = (await reach("from=203.0.113.9&port=80")).items;
      assert.equal(inside?.verdict, "reaches", JSON.stringify(inside));
    }, WITHIN_MS);
    const [outside] = (await reach("from=198.51.100.9")).items;
    assert.match(outside?.why ?? "", /^security rule \S+ \(priority \d+\) denies it$/);
    assert.deepEqual([outside?.verdict, outside?.path.at(-1)?.hop], ["blocked", "security rule"]);
    assert.equal((await api.answer("/api/v1/services/default/web/reach?from=nobody")).status, 400);
  });

  test("what its probes have found is asked of Azure, which is no write of the controller's", async () => {
    const before = (await api.get<{ sequence: number }>("/api/v1/writes")).sequence;
    interface Probes {
      items: { port: number; up: number; down: number; found: string }[];
    }
    const { items } = await view<Probes>("/api/v1/services/default/web/probes", "Probes");
    assert.deepEqual(
      items.map(({ port, up, down, found }) => [port, up, down, found]),
      [[80, 3, 0, "3 of 3 up"]],
    );
    assert.equal((await api.get<{ sequence: number }>("/api/v1/writes")).sequence, before);
  });

  test("one that is refused needs a person: with its sentence, and a fix; and no more once it is mended", async () => {
    await rig.apply({ name: "broken", annotations: { "azure-load-balancer-internal": "maybe" } });
    await eventually(async () => {
      const { items } = await view<{ items: Line[] }>("/api/v1/services?attention=needsYou", "Services");
      const [line] = items;
      assert.deepEqual([line?.name, line?.state], ["broken", "refused"]);
      assert.match(line?.message ?? "", /azure-load-balancer-internal/);
      assert.equal(line?.fix, "kubectl edit service broken -n default");
    }, WITHIN_MS);
    await rig.annotate("broken", { "azure-load-balancer-internal": "true" });
    await eventually(async () => {
      const overview = await view<{ services: { attention: Record<string, number> } }>("/api/v1/overview", "Overview");
      assert.deepEqual(overview.services.attention, { needsYou: 0, inProgress: 0, fine: 2 });
    }, WITHIN_MS);
  });

  test("a drain is seen on the node and in the pool", async () => {
    const [node = ""] = rig.azure.nodes.map(({ name }) => name);
    const taint = (taints: object[]): Promise<unknown> =>
      rig.kube.patch(NODES, { name: node }, { merge: { spec: { taints } } });
    await taint([{ key: "azlb.io/drain", value: "manual", effect: "NoSchedule" }]);
    interface Nodes {
      draining: number;
      items: { name: string; state: string; services: number; pools: { adminState: string }[] }[];
    }
    await eventually(async () => {
      const { draining, items } = await view<Nodes>("/api/v1/nodes", "Nodes");
      assert.deepEqual([draining, items[0]?.name, items[0]?.state], [1, node, "draining"]);
      assert.deepEqual(new Set(items[0]?.pools.map(({ adminState }) => adminState)), new Set(["Down"]));
      assert.equal((await detail("web")).pools[0]?.counts.down, 1);
    }, WITHIN_MS);
    await taint([]);
    await eventually(async () => assert.equal((await detail("web")).pools[0]?.counts.down, 0), WITHIN_MS);
  });

  test("an edit by hand is drift, with what differs and the command that ends it", async () => {
    await editTimeout(rig, "web", 17);
    await rig.restart({}); // which looks at everything
    api = new ApiClient(rig.apiUrl);
    await eventually(async () => {
      const { items } = await view<{ items: Line[] }>("/api/v1/services?drifted=true", "Services");
      assert.deepEqual(
        items.map(({ name, isDrifted, fix }) => [name, isDrifted, fix]),
        [["web", true, "kubectl annotate service web -n default azlb.io/drift-policy=enforce --overwrite"]],
      );
      assert.match((await detail("web")).differences ?? "", /idleTimeoutInMinutes: 17 -> 4/);
    }, WITHIN_MS);
    await rig.annotate("web", { "azlb.io/drift-policy": "enforce" });
    await eventually(async () => assert.equal((await detail("web")).isDrifted, false), WITHIN_MS);
  });

  test("load balancers with what they use of Azure's limits, and what is not ours on them", async () => {
    interface Balancers {
      items: {
        name: string;
        isManaged: boolean;
        foreign: { rules: string[] };
        quota: { of: string; used: number; most: number }[];
      }[];
    }
    const { items } = await view<Balancers>("/api/v1/loadbalancers", "LoadBalancers");
    const own = items.find(({ name }) => name === "kubernetes");
    const stored = (await rig.list("loadBalancers")).find(({ name }) => name === "kubernetes");
    const rules = (propertiesOf(stored)["loadBalancingRules"] as unknown[]).length;
    assert.deepEqual(own?.quota[0], { of: "rules", used: rules, most: 1500 });
    assert.equal(own?.foreign.rules.length, 1);
  });

  test("a throttle is seen, with its end, and goes; no person is called for it", async () => {
    const effect = { kind: "status", status: 429, code: "TooManyRequests", message: "slowly", retryAfterSeconds: 5 };
    await new FaultControl(rig.azure.controlUrl).arm({ method: ["PUT"], path: "**/publicIPAddresses/*", effect });
    await rig.apply({ name: "late" });
    interface Overview {
      throttle: { calls: string; closedUntil?: string }[];
      services: { attention: Record<string, number> };
    }
    await eventually(async () => {
      const { throttle, services } = await view<Overview>("/api/v1/overview", "Overview");
      assert.ok(throttle.some(({ calls, closedUntil }) => calls === "writes" && closedUntil !== undefined));
      assert.deepEqual(services.attention, { needsYou: 0, inProgress: 1, fine: 2 });
      assert.match((await detail("late")).message ?? "", /throttles/);
    }, WITHIN_MS);
    await rig.served("late");
    await eventually(async () => {
      const { throttle, services } = await view<Overview>("/api/v1/overview", "Overview");
      assert.ok(throttle.every(({ closedUntil }) => closedUntil === undefined));
      assert.equal(services.attention["fine"], 3);
    }, WITHIN_MS);
  });

  test("a change is streamed", async () => {
    const stream = await api.stream("/api/v1/changes");
    const seen = stream.until<{ services: { total: number } }>(({ services }) => services.total === 4);
    await rig.apply({ name: "streamed" });
    assert.deepEqual(problemsOf(await seen, "Overview"), []);
    stream.close();
  });

  test("looking costs no call to Azure, but for probes", async () => {
    await rig.served("streamed");
    const calls = async (): Promise<unknown> => (await fetch(`${rig.azure.controlUrl}/counters`)).json();
    const before = await calls();
    for (const { path } of [OVERVIEW, ...ROUTES]) {
      if (path.endsWith("/probes")) continue;
      const asked = path.replace("{namespace}", "default").replace("{name}", "web");
      assert.equal((await api.answer(`${asked}?from=10.0.0.1`)).status, 200, asked);
    }
    assert.deepEqual(await calls(), before);
  });
});
