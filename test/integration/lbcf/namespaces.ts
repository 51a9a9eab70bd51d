/** What one namespace's LoadBalancers may not do to pools and frontends of another namespace, or of Services. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { parseStaticAddresses } from "../../../src/core/lbcf/azure/static-addresses.ts";
import { condition, type LbcfObject, LbcfWorld } from "./world.ts";

const API = "/apis/lbcf.tkestack.io/v1beta1/namespaces";
const RULES = { frontend: "internal", rules: "80:8080" };
/** Well below the minute after which a refused object is reconciled anyway. */
const WITHOUT_TIMER_MS = 20_000;

export function lbcfNamespaces(name: string, open: ClusterOpener): void {
  describe(`lbcf-azure between namespaces on ${name}`, { concurrency: false }, () => {
    let world: LbcfWorld;

    before(async () => {
      const staticAddresses = parseStaticAddresses("tenant=10.66.0.0/16");
      assert.ok(!("mistake" in staticAddresses));
      world = await LbcfWorld.open(open, { azure: { plainHttp: true }, lbcf: { staticAddresses } });
      await world.post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "tenant" } });
    });
    after(() => world.close());

    const add = (namespace: string, lb: string, lbSpec: object, attributes: object): Promise<unknown> =>
      world.createIn(namespace, "LoadBalancer", lb, { lbDriver: "lbcf-azure", lbSpec, attributes });

    const read = async (namespace: string, lb: string): Promise<LbcfObject> =>
      (await world.read(`${API}/${namespace}/loadbalancers/${lb}`)) as LbcfObject;

    const isServed = (namespace: string, lb: string, patienceMs = WITHOUT_TIMER_MS): Promise<void> =>
      eventually(async () => {
        const { status } = await read(namespace, lb);
        const wrong = status?.conditions?.filter((each) => each.status !== "True");
        assert.deepEqual([wrong, status?.conditions?.length], [[], 3], JSON.stringify(status));
      }, patienceMs);

    const isRefused = (namespace: string, lb: string, why: RegExp): Promise<void> =>
      eventually(async () => {
        const accepted = condition(await read(namespace, lb), "Accepted");
        assert.deepEqual([accepted?.status, accepted?.reason], ["False", "Refused"]);
        assert.match(accepted?.message ?? "", why);
      }, WITHOUT_TIMER_MS);

    /** There is a record of that static address, which is not registered, and says why. */
    const hasRecord = (namespace: string, address: string, why: RegExp): Promise<void> =>
      world.eventually(async () => {
        const { items } = (await world.read(`${API}/${namespace}/backendrecords`)) as { items?: LbcfObject[] };
        const found = items?.find(({ spec }) => (spec as { staticAddr?: string }).staticAddr === address);
        const registered = found && condition(found, "Registered");
        assert.deepEqual([registered?.status, registered?.reason], ["False", "OperationFailed"]);
        assert.match(registered?.message ?? "", why);
      });

    const part = async (lb: string, list: string): Promise<readonly string[]> => {
      const body = await world.arm(world.loadBalancerPath(lb));
      return ((body?.properties[list] ?? []) as { name: string }[]).map((each) => each.name);
    };

    test("a pool that another namespace uses is refused, and gets no backend", async () => {
      await add("default", "shop", { name: "shop", pool: "shop-pool" }, RULES);
      await isServed("default", "shop");
      await add("tenant", "thief", { name: "shop", pool: "Shop-Pool" }, {});
      await world.createIn("tenant", "BackendGroup", "thief", { loadBalancers: ["thief"], static: ["10.66.66.66"] });
      await isRefused("tenant", "thief", /lbSpec\.pool "Shop-Pool" .* is used by namespace "default": .*another pool/);
      await world.eventually(async () => {
        const group = (await world.read(`${API}/tenant/backendgroups/thief`)) as LbcfObject;
        assert.equal(condition(group, "Accepted")?.reason, "LoadBalancerNotCreated");
      });
      await add("tenant", "heir", { name: "shop", pool: "shop-pool" }, RULES);
      await isRefused("tenant", "heir", /lbSpec\.pool "shop-pool"/);
      assert.deepEqual(await world.addresses("shop"), []);
    });

    test("... with an event that says the same", async () => {
      await world.eventually(async () => {
        const path = "/api/v1/namespaces/tenant/events?fieldSelector=involvedObject.name=thief";
        const { items = [] } = (await world.read(path)) as { items?: { reason: string; message: string }[] };
        const refused = items.find(({ reason }) => reason === "Refused");
        assert.match(refused?.message ?? "", /lbSpec\.pool "Shop-Pool"/);
      });
    });

    test("within a namespace a pool may be shared", async () => {
      await add("default", "shop-too", { name: "shop", pool: "shop-pool" }, {});
      await isServed("default", "shop-too");
    });

    test("a pool's derived name belongs to its LoadBalancer, also to one that comes later", async () => {
      await add("default", "derived", { name: "derived" }, RULES);
      await isServed("default", "derived");
      const pool = (await part("derived", "backendAddressPools"))[0] ?? "";
      await world.delete("LoadBalancer", "derived");
      await world.eventually(async () => assert.equal(await world.exists("LoadBalancer", "derived"), false));
      await add("tenant", "squatter", { name: "derived", pool }, RULES);
      await isServed("tenant", "squatter");
      await add("default", "derived", { name: "derived" }, { ...RULES, rules: "81:8081" });
      await isServed("default", "derived");
    });

    test("a frontend of another namespace's LoadBalancer is refused", async () => {
      const [frontend = ""] = await part("shop", "frontendIPConfigurations");
      await add("tenant", "parasite", { name: "shop" }, { frontend, rules: "81:8081" });
      await isRefused(
        "tenant",
        "parasite",
        new RegExp(`attributes\\.frontend "${frontend}" .* namespace "default": use`),
      );
      assert.equal((await part("shop", "loadBalancingRules")).length, 1);
    });

    test("... until the holder consents, and again for new entries when it no longer does", async () => {
      const shared = (value: string | null): Promise<unknown> =>
        world.change("LoadBalancer", "shop", { metadata: { annotations: { "lbcf.tkestack.io/share-with": value } } });
      await shared("elsewhere, tenant");
      await isServed("tenant", "thief");
      await isServed("tenant", "parasite");
      await world.eventually(async () => assert.deepEqual(await world.addresses("shop"), ["10.66.66.66"]));
      assert.equal((await part("shop", "loadBalancingRules")).length, 2);
      await shared(null);
      // one watch has both LoadBalancers in order: once this one is refused, the controller knows that the consent is gone
      await add("tenant", "late", { name: "shop", pool: "Shop-Pool" }, {});
      await isRefused("tenant", "late", /lbSpec\.pool "Shop-Pool" .* is used by namespace "default"/);
      await world.patch(`${API}/tenant/backendgroups/thief`, { spec: { static: ["10.66.66.66", "10.66.66.68"] } });
      await hasRecord(
        "tenant",
        "10.66.66.68",
        /is used by namespace "default": .*add "tenant" to annotation .*"shop(-too)?"/,
      );
      assert.deepEqual(await world.addresses("shop"), ["10.66.66.66"]);
      for (const each of [
        "backendgroups/thief",
        "loadbalancers/thief",
        "loadbalancers/parasite",
        "loadbalancers/late",
      ]) {
        await world.remove(`${API}/tenant/${each}`, {});
      }
      await world.eventually(async () => {
        assert.deepEqual(await world.addresses("shop"), []);
        assert.equal((await part("shop", "loadBalancingRules")).length, 1);
      });
    });

    test("a static address is registered only where the operator allows it", async () => {
      await add("default", "fixed", { name: "fixed" }, RULES);
      await add("tenant", "fixed", { name: "fixed-too" }, RULES);
      for (const namespace of ["default", "tenant"]) {
        const spec = { loadBalancers: ["fixed"], static: ["10.66.1.1", "10.67.1.1"] };
        await world.createIn(namespace, "BackendGroup", "fixed", spec);
      }
      const refused = (namespace: string): RegExp =>
        new RegExp(`not allowed in namespace "${namespace}".*=10.6\\d.1.1 to`);
      await hasRecord("tenant", "10.67.1.1", refused("tenant"));
      await hasRecord("default", "10.67.1.1", refused("default"));
      await hasRecord("default", "10.66.1.1", refused("default"));
      await world.eventually(async () => assert.deepEqual(await world.addresses("fixed-too"), ["10.66.1.1"]));
      assert.deepEqual(await world.addresses("fixed"), []);
    });

    test("a Service's frontend is refused, also by a change of attributes", async () => {
      const spec = { type: "LoadBalancer", ports: [{ port: 80, nodePort: 30080 }], selector: { app: "web" } };
      await world.post("/api/v1/namespaces/default/services", {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "web" },
        spec,
      });
      let frontend = "";
      await world.eventually(async () => {
        frontend = (await part("kubernetes", "frontendIPConfigurations"))[0] ?? "";
        assert.match(frontend, /^a[\da-f]{31}$/);
      });
      const why = new RegExp(
        `attributes\\.frontend "${frontend}" belongs to Service default/web: use public, internal`,
      );
      await add("tenant", "rider", { name: "kubernetes" }, { frontend, rules: "81:8081" });
      await isRefused("tenant", "rider", why);
      await add("tenant", "later", { name: "kubernetes" }, { frontend: "internal", rules: "82:8082" });
      await isServed("tenant", "later");
      const path = `${API}/tenant/loadbalancers/later`;
      await world.patch(path, { spec: { attributes: { frontend, rules: "82:8082" } } });
      await isRefused("tenant", "later", why);
      const rules = await part("kubernetes", "loadBalancingRules");
      assert.deepEqual(rules.filter((rule) => rule.startsWith(frontend)).length, 1);
    });

    test("... until the Service consents, and never on its ports", async () => {
      const annotations = { "azlb.io/share-address-with": "tenant" };
      await world.patch("/api/v1/namespaces/default/services/web", { metadata: { annotations } });
      await isServed("tenant", "rider");
      await isServed("tenant", "later");
      const frontend = (await part("kubernetes", "frontendIPConfigurations")).find((each) =>
        /^a[\da-f]{31}$/.test(each),
      );
      await add("tenant", "greedy", { name: "kubernetes" }, { frontend, rules: "80:8080" });
      await world.eventually(async () => {
        const created = condition(await read("tenant", "greedy"), "Created");
        assert.deepEqual([created?.status, created?.reason], ["False", "OperationFailed"]);
        assert.match(created?.message ?? "", /80/);
      });
      assert.equal((await part("kubernetes", "loadBalancingRules")).length, 3);
      for (const lb of ["rider", "later", "greedy"]) await world.remove(`${API}/tenant/loadbalancers/${lb}`, {});
      await world.eventually(async () => assert.equal((await part("kubernetes", "loadBalancingRules")).length, 1));
    });

    test("a frontend that neither made is the first one's", async () => {
      await world.addSharedLoadBalancer([]);
      await add("default", "first", { name: "shared" }, { frontend: "theirs", rules: "80:8080" });
      await isServed("default", "first");
      await add("tenant", "second", { name: "shared" }, { frontend: "theirs", rules: "81:8081" });
      await isRefused("tenant", "second", /attributes\.frontend "theirs" .* namespace "default"/);
      await world.change("LoadBalancer", "first", { spec: { attributes: { frontend: "internal" } } });
      await isServed("tenant", "second");
    });

    test("a record that names another namespace's pool registers nothing", async () => {
      const { status } = await read("default", "shop");
      const spec = {
        lbName: "none",
        lbDriver: "lbcf-azure",
        lbInfo: status?.lbInfo,
        ensurePolicy: { policy: "IfNotSucc" },
        staticAddr: "10.66.66.67",
      };
      await world.createIn("tenant", "BackendRecord", "forged", spec);
      await world.eventually(async () => {
        const record = (await world.read(`${API}/tenant/backendrecords/forged`)) as LbcfObject;
        const registered = condition(record, "Registered");
        assert.equal(registered?.reason, "OperationFailed", JSON.stringify(record.status));
        assert.match(registered.message ?? "", /lbInfo\.pool ".*shop-pool" is used by namespace "default"/);
      });
      assert.deepEqual(await world.addresses("shop"), []);
    });

    test("a Bind is refused alike", async () => {
      const loadBalancers = [{ name: "lb", driver: "lbcf-azure", spec: { name: "shop", pool: "shop-pool" } }];
      const pods = { ports: [{ port: 8080, protocol: "TCP" }], byLabel: { selector: { app: "web" } } };
      const path = "/apis/lbcf.tkestack.io/v1/namespaces/tenant/binds";
      const bind = { apiVersion: "lbcf.tkestack.io/v1", kind: "Bind", metadata: { name: "bound" } };
      await world.post(path, { ...bind, spec: { loadBalancers, pods } });
      await world.eventually(async () => {
        const stored = (await world.read(`${path}/bound`)) as BindObject;
        const accepted = stored.status?.loadBalancerStatuses?.[0]?.conditions?.find(({ type }) => type === "Accepted");
        assert.deepEqual([accepted?.status, accepted?.reason], ["False", "Refused"], JSON.stringify(stored.status));
      });
    });

    test("once the holders are gone, the others are served without any timer", async () => {
      await world.delete("LoadBalancer", "shop-too");
      await world.delete("LoadBalancer", "shop");
      await world.eventually(async () => assert.equal(await world.exists("LoadBalancer", "shop"), false));
      await isServed("tenant", "heir");
    });
  });
}

interface BindObject extends LbcfObject {
  readonly status?: LbcfObject["status"] & {
    readonly loadBalancerStatuses?: readonly {
      readonly conditions?: NonNullable<LbcfObject["status"]>["conditions"];
    }[];
  };
}
