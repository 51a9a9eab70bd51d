/** Real connections through the emulator's load balancers: who gets them, and what becomes of those that are open. */
import assert from "node:assert/strict";
import { after, test } from "node:test";

import {
  dataPlaneAt,
  memberAt,
  openConnection,
  PATIENCE_MS,
  udpClient,
  visit,
  type HeldConnection,
} from "../../support/data-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { echoBackend, udpBackend } from "../../support/loopback-backends.ts";
import { azureUnderTest } from "./azure-under-test.ts";
import { balancersOf } from "./balancers.ts";

const azure = await azureUnderTest({ dataPlane: true });
const balancers = await balancersOf(azure);
const plane = dataPlaneAt(azure.controlUrl);
const NODES = azure.nodes.map(({ ip }) => ip);
const [FIRST = "", SECOND = ""] = NODES;
const backends = await Promise.all(NODES.map((ip) => echoBackend(ip)));
after(() => Promise.all(backends.map((backend) => backend.close())));
await plane.map(Object.fromEntries(backends.map(({ name, port }) => [name, { "*": port }])));
await plane.settings({ probeIntervalFactor: 0.02 });
await balancers.securityRule("open", {});

/** Opens connections until every one of these is reached, and keeps one to each. */
async function holdEach(port: number, names: readonly string[]): Promise<Map<string, HeldConnection>> {
  const held = new Map<string, HeldConnection>();
  for (let tries = 0; held.size < names.length; tries++) {
    assert.ok(tries < 1000, `reached only ${[...held.keys()].join()}`);
    const connection = await openConnection(port);
    if (held.has(connection.backend)) connection.destroy();
    else held.set(connection.backend, connection);
  }
  return held;
}

async function visitMany(port: number, count: number): Promise<Set<string>> {
  const reached = new Set<string>();
  for (let index = 0; index < count; index++) reached.add(await visit(port));
  return reached;
}

test("new connections are spread over all members, and counted", async () => {
  const address = await balancers.make({ name: "spread", members: NODES });
  const { listener } = await plane.eligible(address, 80, NODES);
  const reached = await visitMany(listener.port, 60);
  assert.deepEqual([...reached].sort(), [...NODES].sort());
  const held = await openConnection(listener.port);
  await eventually(async () => {
    const { total, open, refused } = await plane.frontend(address, 80);
    assert.deepEqual({ total, open, refused }, { total: 61, open: 1, refused: {} });
  }, PATIENCE_MS);
  const seen = await plane.frontend(address, 80);
  assert.equal(
    seen.members.reduce((sum, { total }) => sum + total, 0),
    61,
  );
  assert.equal(memberAt(seen, held.backend).open, 1);
  assert.equal(memberAt(seen, FIRST).node, azure.nodes[0]?.name);
  held.destroy();
  await eventually(async () => assert.equal((await plane.frontend(address, 80)).open, 0), PATIENCE_MS);
});

test("a half-closed connection still carries the answer", async () => {
  const address = await balancers.make({ name: "half", members: NODES });
  const { listener } = await plane.eligible(address, 80, NODES);
  const connection = await openConnection(listener.port);
  connection.whisper("last words");
  assert.equal(await connection.finish(), "last words\n");
});

test("with SourceIP a client stays with one member", async () => {
  const address = await balancers.make({ name: "sticky", members: NODES, rule: { loadDistribution: "SourceIP" } });
  const { listener } = await plane.eligible(address, 80, NODES);
  assert.equal((await visitMany(listener.port, 30)).size, 1);
  const sources = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`127.0.1.${n}`, `198.51.100.${n}`]));
  await plane.settings({ sources });
  const reached = new Set<string>();
  for (const client of Object.keys(sources)) reached.add(await visit(listener.port, client));
  assert.equal(reached.size, NODES.length);
});

test("Down takes effect when its operation succeeds; what is established lives on", async () => {
  const address = await balancers.make({ name: "drain", members: NODES });
  const { listener } = await plane.eligible(address, 80, NODES);
  const held = await holdEach(listener.port, NODES);
  await azure.control("POST", "/faults", {
    method: "PUT",
    path: "**/loadBalancers/drain/backendAddressPools/*",
    effect: { kind: "operation", outcome: "Succeeded", tailMs: 5000 }, // time for many visits
  });
  const asked = (await plane.flows()).at(-1)?.sequence ?? 0;
  await balancers.setAdminStates("drain", NODES, { [FIRST]: "Down" });
  const reached = new Set<string>();
  await eventually(async () => {
    reached.add(await visit(listener.port));
    assert.equal((await plane.flows({ after: String(asked), event: "adminState" })).length, 1);
  }, PATIENCE_MS);
  assert.ok(reached.has(FIRST), "it still got connections while the operation ran");

  await visitMany(listener.port, 40);
  const flows = await plane.flows({ after: String(asked), frontend: `${address}:80/tcp`, event: "opened" });
  const [down] = await plane.flows({ after: String(asked), event: "adminState", member: FIRST });
  assert.deepEqual([down?.from, down?.to], ["None", "Down"]);
  const late = flows.filter(({ sequence, member }) => sequence > (down?.sequence ?? 0) && member === FIRST);
  assert.deepEqual(late, []);
  for (const [name, connection] of held) assert.equal(await connection.say(`hello ${name}`), `hello ${name}`);
  await eventually(async () => assert.equal(memberAt(await plane.frontend(address, 80), FIRST).open, 1), PATIENCE_MS);

  await balancers.setAdminStates("drain", NODES, {});
  await plane.eligible(address, 80, NODES);
  await holdEach(listener.port, NODES);
});

test("a Down whose operation fails never takes effect", async () => {
  const address = await balancers.make({ name: "failing", members: NODES });
  await plane.eligible(address, 80, NODES);
  await azure.control("POST", "/faults", {
    method: "PUT",
    path: "**/loadBalancers/failing/backendAddressPools/*",
    effect: { kind: "operation", outcome: "Failed" },
  });
  const path = `${balancers.network}/loadBalancers/failing`;
  await balancers.setAdminStates("failing", NODES, { [FIRST]: "Down" });
  await eventually(async () => {
    const { body } = await balancers.get(path);
    assert.equal((body as { properties: { provisioningState: string } }).properties.provisioningState, "Failed");
  }, PATIENCE_MS);
  const seen = await plane.frontend(address, 80);
  assert.deepEqual([memberAt(seen, FIRST).adminState, memberAt(seen, FIRST).eligible], ["None", true]);
});

test("without a probe admin state has no effect", async () => {
  const address = await balancers.make({ name: "unprobed", members: NODES, probe: null });
  await balancers.setAdminStates("unprobed", NODES, { [FIRST]: "Down" });
  await eventually(async () => {
    assert.equal(memberAt(await plane.frontend(address, 80), FIRST).adminState, "Down");
  }, PATIENCE_MS);
  const { listener } = await plane.eligible(address, 80, NODES);
  const held = await holdEach(listener.port, NODES);
  assert.ok(held.has(FIRST));
});

test("by a switch, Down resets what is established", async () => {
  const address = await balancers.make({ name: "resetting", members: NODES });
  const { listener } = await plane.eligible(address, 80, NODES);
  const held = await holdEach(listener.port, NODES);
  await plane.settings({ resetOnDown: true });
  try {
    await balancers.setAdminStates("resetting", NODES, { [FIRST]: "Down" });
    assert.equal(await held.get(FIRST)?.gone(), "reset");
    assert.equal(await held.get(SECOND)?.say("still here"), "still here");
  } finally {
    await plane.settings({ resetOnDown: false });
  }
});

test("idle connections are reset where the rule says so, and forgotten in silence where not", async () => {
  const open = async (name: string, enableTcpReset: boolean) => {
    const address = await balancers.make({ name, members: NODES, rule: { enableTcpReset } });
    const { listener } = await plane.eligible(address, 80, NODES);
    return { address, port: listener.port, held: await openConnection(listener.port) };
  };
  const [loud, silent] = [await open("loud", true), await open("silent", false)];
  await plane.settings({ idleTimeoutFactor: 0.0001 });
  await eventually(async () => {
    for (const { address } of [loud, silent]) {
      const [closed] = await plane.flows({ event: "closed", frontend: `${address}:80/tcp` });
      assert.equal(closed?.reason, "idle");
    }
  }, PATIENCE_MS);
  await plane.settings({ idleTimeoutFactor: 1 });
  assert.equal(await loud.held.gone(), "reset");
  const answer = silent.held.say("anybody there?").then(
    () => "an answer",
    () => "the end",
  );
  assert.ok(NODES.includes(await Promise.race([answer, visit(silent.port)])), "the client was not told");
});

test("UDP flows are answered, stay with their member, and move when it is Down", async () => {
  const servers = await Promise.all(NODES.map((ip) => udpBackend(ip)));
  after(() => Promise.all(servers.map((server) => server.close())));
  await plane.map(Object.fromEntries(servers.map(({ name, port }) => [name, { "30053/udp": port }])));
  const address = await balancers.make({
    name: "dns",
    members: NODES,
    rule: { protocol: "Udp", frontendPort: 53, backendPort: 30_053 },
  });
  const { listener } = await plane.eligible(address, 53, NODES, "Udp");
  const client = await udpClient(listener.port);
  after(() => client.close());
  const [first = ""] = (await client.ask("one")).split(": ");
  assert.equal(await client.ask("two"), `${first}: two`);
  await balancers.setAdminStates("dns", NODES, { [first]: "Down" });
  const others = NODES.filter((ip) => ip !== first);
  await plane.eligible(address, 53, others, "Udp");
  const [second = ""] = (await client.ask("three")).split(": ");
  assert.ok(others.includes(second), `${second} is not one of ${others.join()}`);
  const seen = await plane.frontend(address, 53, "Udp");
  assert.deepEqual([memberAt(seen, first).open, memberAt(seen, second).open], [0, 1]);
});

test("a frontend that is removed takes its connections with it; another rule on it does not", async () => {
  const address = await balancers.make({ name: "leaving", members: NODES });
  const { listener } = await plane.eligible(address, 80, NODES);
  const held = await openConnection(listener.port);
  await balancers.make({ name: "leaving", members: NODES, rule: { loadDistribution: "SourceIP" } });
  const changed = await plane.eligible(address, 80, NODES);
  assert.deepEqual([changed.listener.port, changed.distribution], [listener.port, "SourceIP"]);
  assert.equal(await held.say("still here"), "still here");
  await balancers.remove(`${balancers.network}/loadBalancers/leaving`);
  assert.equal(await held.gone(), "reset");
  await assert.rejects(visit(listener.port));
});

test("HA ports listen on the ports that the table of members names", async () => {
  const server = await echoBackend("on 8443");
  after(() => server.close());
  await plane.map({ [FIRST]: { "8443": server.port } });
  const rule = { protocol: "All", frontendPort: 0, backendPort: 0 };
  const address = await balancers.make({ name: "any-port", members: [FIRST], isInternal: true, rule });
  const { listener } = await plane.eligible(address, 8443, [FIRST]);
  assert.equal(await visit(listener.port), "on 8443");
});

test("a member that left the pool gets nothing new, keeps what it has, and is still counted", async () => {
  const address = await balancers.make({ name: "shrinking", members: NODES });
  const { listener } = await plane.eligible(address, 80, NODES);
  const held = await holdEach(listener.port, NODES);
  const rest = NODES.filter((ip) => ip !== FIRST);
  await balancers.setAdminStates("shrinking", rest, {});
  await plane.eligible(address, 80, rest);
  assert.equal(await held.get(FIRST)?.say("still here"), "still here");
  assert.ok(!(await visitMany(listener.port, 30)).has(FIRST));
  await eventually(async () => {
    const { inPool, open } = memberAt(await plane.frontend(address, 80), FIRST);
    assert.deepEqual({ inPool, open }, { inPool: false, open: 1 });
  }, PATIENCE_MS);
});
