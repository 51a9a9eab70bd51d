/** The custom role in `deploy/azure-role.json`, enforced by the emulator, is enough for the driver `lbcf-azure` too. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";

import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { FaultControl } from "../../support/fault-control.ts";
import { LbcfWorld } from "./world.ts";

const ROLE_FILE = resolve(import.meta.dirname, "../../../deploy/azure-role.json");
const { Actions: actions } = JSON.parse(readFileSync(ROLE_FILE, "utf8")) as { Actions: string[] };
const FRONTENDS = ["public", "internal"];

test("load balancers with either frontend are made, filled, emptied and deleted with the role", async () => {
  const world = await LbcfWorld.open(openEmbeddedCluster, { azure: { plainHttp: true }, withController: false });
  try {
    const control = new FaultControl(world.azure.controlUrl);
    const { clientId } = world.azure.account;
    await control.send("PATCH", "/settings", { roles: { [clientId]: { actions } } });
    await world.startController();
    for (const frontend of FRONTENDS) {
      const attributes = { frontend, rules: "80:8080/TCP" };
      const spec = { lbDriver: "lbcf-azure", lbSpec: { name: `lb-${frontend}` }, attributes };
      await world.create("LoadBalancer", frontend, spec);
    }
    const pods = { ports: [{ port: 8080 }], byLabel: { selector: { app: "web" } } };
    await world.create("BackendGroup", "web", { loadBalancers: FRONTENDS, pods });
    await world.addPod("web-0", { ip: "10.244.0.10" });
    for (const frontend of FRONTENDS) {
      await world.eventually(async () => assert.deepEqual(await world.addresses(`lb-${frontend}`), ["10.244.0.10"]));
    }
    await world.killPod("web-0");
    await world.delete("BackendGroup", "web");
    for (const frontend of FRONTENDS) await world.delete("LoadBalancer", frontend);
    for (const frontend of FRONTENDS) {
      await world.eventually(async () => {
        assert.equal(await world.arm(world.loadBalancerPath(`lb-${frontend}`)), undefined);
      });
    }
    const { entries } = (await control.send("GET", "/audit")) as {
      entries: { caller: string | null; method: string; path: string; status: number }[];
    };
    const ours = entries.filter(({ caller }) => caller === clientId);
    assert.ok(ours.some(({ method, status }) => method === "DELETE" && status < 300));
    assert.deepEqual(
      ours.filter(({ status }) => status === 403).map(({ method, path }) => `${method} ${path}`),
      [],
    );
  } finally {
    await world.close();
  }
});
