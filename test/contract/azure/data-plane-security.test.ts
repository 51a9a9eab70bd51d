/** Who gets through to the members, how those who do not learn of it, and what the control endpoint says to nonsense. */
import assert from "node:assert/strict";
import { writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { startAzure } from "../../../sandbox/azure/index.ts";
import { dataPlaneAt, openConnection, PATIENCE_MS, visit, type HeldConnection } from "../../support/data-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { echoBackend } from "../../support/loopback-backends.ts";
import { azureUnderTest, clientsOf } from "./azure-under-test.ts";
import { startAzlbAzure } from "./azlb-azure.ts";
import { balancersOf } from "./balancers.ts";

const azure = await azureUnderTest({ dataPlane: true });
const balancers = await balancersOf(azure);
const plane = dataPlaneAt(azure.controlUrl);
const NODES = azure.nodes.map(({ ip }) => ip);
const echo = await echoBackend("echo");
after(() => echo.close());
await plane.map(Object.fromEntries(NODES.map((ip) => [ip, { "*": echo.port }])));
await plane.settings({ probeIntervalFactor: 0.02 });

let priority = 300;

/** Visits until it is as it should be: rules of a security group take effect when their operation succeeds. */
async function eventuallyReached(port: number, localAddress?: string): Promise<void> {
  await eventually(async () => assert.equal(await visit(port, localAddress), "echo"), PATIENCE_MS);
}

test("a public frontend is closed until a security group opens it, for this port and these sources", async () => {
  const address = await balancers.make({ name: "public", members: NODES });
  const { listener } = await plane.eligible(address, 80, NODES);
  await assert.rejects(visit(listener.port), /reset/);
  const [refusal] = await plane.flows({ event: "refused" });
  assert.deepEqual(
    [refusal?.reason, refusal?.securityRule, refusal?.source],
    ["securityGroup", "DenyAllInBound", "203.0.113.1"],
  );
  const rule = { priority: priority++, protocol: "Tcp", destinationPortRange: "30080" };
  await balancers.securityRule("some", { ...rule, sourceAddressPrefix: "198.51.100.0/24" });
  await plane.settings({ sources: { "127.0.0.2": "198.51.100.7" } });
  await eventuallyReached(listener.port, "127.0.0.2");
  await assert.rejects(visit(listener.port), /reset/);
  await balancers.securityRule("some", { ...rule, sourceAddressPrefix: "Internet" });
  await eventuallyReached(listener.port);
});

test("a rule that goes shuts out new connections only", async () => {
  const rule = { priority: priority++, destinationPortRange: "30081" };
  const address = await balancers.make({ name: "later", members: NODES, rule: { backendPort: 30_081 } });
  const { listener } = await plane.eligible(address, 80, NODES);
  await balancers.securityRule("later", rule);
  await eventuallyReached(listener.port);
  const held = await openConnection(listener.port);
  await balancers.remove(`${balancers.network}/networkSecurityGroups/nsg/securityRules/later`);
  await eventually(() => assert.rejects(visit(listener.port), /reset/), PATIENCE_MS);
  assert.equal(await held.say("still here"), "still here");
});

test("with floating IP the frontend's address is the destination, and its port is kept", async () => {
  const address = await balancers.make({
    name: "floating",
    members: NODES,
    rule: { enableFloatingIP: true, backendPort: 80 },
  });
  const { listener } = await plane.eligible(address, 80, NODES);
  await assert.rejects(visit(listener.port), /reset/);
  await balancers.securityRule("floating", {
    priority: priority++,
    destinationAddressPrefix: address,
    destinationPortRange: "80",
    sourceAddressPrefix: "Internet",
  });
  await eventuallyReached(listener.port);
});

test("inside the network every client reaches an internal frontend", async () => {
  const address = await balancers.make({
    name: "inside",
    members: NODES,
    isInternal: true,
    rule: { backendPort: 30_082 },
  });
  const frontend = await plane.eligible(address, 80, NODES);
  await assert.rejects(visit(frontend.listener.port), /reset/);
  await plane.settings({ sources: { [frontend.frontend]: "10.240.7.7" } });
  await eventuallyReached(frontend.listener.port);
});

test("an IPv6 frontend with IPv6 members, guarded by the same security group", async () => {
  const path = `${balancers.network}/virtualNetworks/vnet`;
  type Network = { properties: { addressSpace: { addressPrefixes: string[] }; subnets: unknown[] } };
  const network = (await balancers.get(path)).body as Network;
  const networkSecurityGroup = { id: `${balancers.network}/networkSecurityGroups/nsg` };
  network.properties.addressSpace.addressPrefixes.push("fd00:240::/48");
  network.properties.subnets.push({
    name: "dual",
    properties: { addressPrefixes: ["10.242.0.0/16", "fd00:240::/64"], networkSecurityGroup },
  });
  await balancers.put(path, network);
  const members = ["fd00:240::4", "fd00:240::5"];
  await plane.map(Object.fromEntries(members.map((ip) => [ip, { "*": echo.port }])));
  const address = await balancers.make({ name: "six", version: "IPv6", members, rule: { backendPort: 30_086 } });
  assert.match(address, /:/);
  const frontend = await plane.eligible(address, 80, members);
  assert.equal(frontend.frontend, `[${address}]:80/tcp`);
  await assert.rejects(visit(frontend.listener.port), /reset/);
  await balancers.securityRule("six", {
    priority: priority++,
    sourceAddressPrefix: "2001:db8::/32",
    destinationAddressPrefix: "fd00:240::/64",
    destinationPortRange: "30086",
  });
  await eventuallyReached(frontend.listener.port);
});

test("refused connections can hang, as they do at Azure", async () => {
  const address = await balancers.make({ name: "silent", members: NODES, rule: { backendPort: 30_083 } });
  const { listener } = await plane.eligible(address, 80, NODES);
  await plane.settings({ refused: "drop" });
  const hanging = openConnection(listener.port).then(
    () => "reached",
    () => "refused",
  );
  await eventually(async () => {
    assert.deepEqual((await plane.frontend(address, 80)).refused, { securityGroup: 1 });
  }, PATIENCE_MS);
  assert.equal(await Promise.race([hanging, plane.frontends().then(() => "hangs")]), "hangs");
  await plane.settings({ refused: "reset" });
});

test("no server behind the mapped port: the client is reset, and the member is counted", async () => {
  const dead = await echoBackend("dead");
  await dead.close();
  const [first = ""] = NODES;
  await plane.map({ [first]: { "30084": dead.port } });
  await balancers.securityRule("dead", { priority: priority++, destinationPortRange: "30084" });
  const address = await balancers.make({ name: "dead", members: [first], rule: { backendPort: 30_084 } });
  const { listener } = await plane.eligible(address, 80, [first]);
  await eventually(async () => {
    await assert.rejects(visit(listener.port), /reset/);
    const { refused } = await plane.frontend(address, 80);
    assert.ok((refused.memberRefused ?? 0) > 0);
  }, PATIENCE_MS);
  const { members, open } = await plane.frontend(address, 80);
  assert.deepEqual([members[0]?.open, open], [0, 0]);
  assert.equal(members[0]?.refused, members[0]?.total);
});

test("there is a limit to flows, and room again when they end", async () => {
  const address = await balancers.make({ name: "crowded", members: NODES });
  const { listener } = await plane.eligible(address, 80, NODES);
  await plane.settings({ maxFlows: 10 });
  const held: HeldConnection[] = [];
  await assert.rejects(async () => {
    while (held.length <= 10) held.push(await openConnection(listener.port));
  }, /reset/);
  assert.deepEqual((await plane.frontend(address, 80)).refused, { limit: 1 });
  for (const connection of held) connection.destroy();
  await eventuallyReached(listener.port);
  await plane.settings({ maxFlows: 5000 });
});

const NONSENSE: readonly [method: string, path: string, body: unknown, message: RegExp][] = [
  ["POST", "/members", { "10.240.0.4": 80 }, /members\[.*10\.240\.0\.4.*\] must be an object/],
  ["PATCH", "/data-plane", { refused: "perhaps" }, /data-plane\.refused must be one of reset, drop/],
  ["PATCH", "/data-plane", { idleTimeoutFactor: 0 }, /data-plane\.idleTimeoutFactor must be a number above 0/],
  ["PATCH", "/data-plane", { sources: { "*": "home" } }, /data-plane\.sources\[.*\*.*\] must be an IP address/],
  ["PATCH", "/data-plane", { speed: 1 }, /unknown key .*speed/],
  ["GET", "/data-plane?port=http", undefined, /port must be a whole number/],
  ["GET", "/flows?since=1", undefined, /unknown key .*since/],
];

for (const [method, path, body, message] of NONSENSE) {
  test(`${method} ${path} ${JSON.stringify(body) ?? ""} is refused with a reason`, async () => {
    await assert.rejects(azure.control(method, path, body), message);
  });
}

test("it is off unless asked for, and says so", async () => {
  const plain = await azureUnderTest({ topology: { nodes: 0 } });
  await assert.rejects(
    plain.control("GET", "/data-plane"),
    /the data plane is off; start the emulator with --data-plane/,
  );
  await assert.rejects(plain.control("POST", "/seed", { members: { a: { "*": 1 } } }), /seed\.members needs/);
});

test("an emulator that stops leaves no connection open", async () => {
  const own = clientsOf(await startAzure({ dataPlane: true }));
  let held: HeldConnection | undefined;
  try {
    const [itsBalancers, itsPlane] = [await balancersOf(own), dataPlaneAt(own.controlUrl)];
    const nodes = own.nodes.map(({ ip }) => ip);
    await itsBalancers.securityRule("open", {});
    await itsPlane.map(Object.fromEntries(nodes.map((ip) => [ip, { "*": echo.port }])));
    const address = await itsBalancers.make({ name: "stopping", members: nodes });
    const { listener } = await itsPlane.eligible(address, 80, nodes);
    held = await openConnection(listener.port);
  } finally {
    await own.close();
  }
  assert.equal(await held.gone(), "reset");
});

test("azlb azure --data-plane takes the table of members from its seed", async () => {
  const directory = mkdtempSync(join(tmpdir(), "seed-"));
  after(() => rmSync(directory, { recursive: true }));
  const seed = join(directory, "seed.json");
  writeFileSync(seed, JSON.stringify({ members: { vmss000000: { "*": echo.port } } }));
  const azlb = await startAzlbAzure("--data-plane", "--seed", seed);
  const answer = await fetch(`${azlb.line.azureControlUrl}/members`);
  assert.deepEqual(await answer.json(), { vmss000000: { "*": echo.port } });
  assert.equal(await azlb.stop("SIGTERM"), 0);
});
