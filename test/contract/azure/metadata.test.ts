/** Instance metadata and Scheduled Events over HTTP, as a machine asks for them, and what they do to the machine. */
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { dataPlaneAt, openConnection, PATIENCE_MS, visit } from "../../support/data-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { echoBackend } from "../../support/loopback-backends.ts";
import { azureUnderTest, listed } from "./azure-under-test.ts";
import { balancersOf } from "./balancers.ts";

const azure = await azureUnderTest({ dataPlane: true, topology: { nodes: 4 } });
const EVENTS = "/metadata/scheduledevents?api-version=2020-07-01";
const NAME = "/metadata/instance/compute/name?api-version=2021-02-01&format=text";

async function ask(machine: string, path: string, init: RequestInit = {}) {
  const url = `${azure.metadataUrl}/machines/${machine}${path}`;
  const response = await fetch(url, { headers: { Metadata: "true" }, ...init });
  return { status: response.status, text: await response.text() };
}

interface Document {
  readonly DocumentIncarnation: number;
  readonly Events: readonly Readonly<Record<string, unknown>>[];
}

async function documentOf(machine: string): Promise<Document> {
  return JSON.parse((await ask(machine, EVENTS)).text) as Document;
}

async function announce(body: unknown): Promise<{ EventId: string }> {
  return (await azure.control("POST", "/scheduled-events", body)) as { EventId: string };
}

async function instances(): Promise<readonly (string | undefined)[]> {
  const { resourceGroup } = azure;
  return (await listed(azure.compute.virtualMachineScaleSetVMs.list(resourceGroup, "vmss"))).map(({ name }) => name);
}

test("a machine learns its name, by its own name and by that of its Node", async () => {
  assert.deepEqual(await ask("vmss000001", NAME), { status: 200, text: "vmss_1" });
  assert.deepEqual(await ask("vmss_1", NAME), { status: 200, text: "vmss_1" });
  const whole = JSON.parse((await ask("vmss_1", "/metadata/instance?api-version=2021-02-01")).text) as {
    compute: { vmScaleSetName: string };
    network: { interface: { ipv4: { ipAddress: { privateIpAddress: string }[] } }[] };
  };
  assert.equal(whole.compute.vmScaleSetName, "vmss");
  assert.equal(whole.network.interface[0]?.ipv4.ipAddress[0]?.privateIpAddress, azure.nodes[1]?.ip);
});

test("requests without the header, through a proxy or without a version are refused; unknown machines are not found", async () => {
  for (const [headers, path, status] of [
    [{}, EVENTS, 400],
    [{ Metadata: "true", "X-Forwarded-For": "10.0.0.1" }, EVENTS, 400],
    [{ Metadata: "true" }, "/metadata/scheduledevents", 400],
    [{ Metadata: "true" }, "/metadata/nothing?api-version=2021-02-01", 404],
  ] as const) {
    assert.equal((await ask("vmss_1", path, { headers })).status, status, path);
  }
  const { status, text } = await ask("nobody", EVENTS);
  assert.equal(status, 404);
  assert.match(text, /No machine \\"nobody\\".*vmss000000/);
});

test("bad events are refused with the key and the fix", async () => {
  for (const [body, expected] of [
    [{ type: "Evict", machines: ["vmss_0"] }, /event\.type must be one of Freeze/],
    [{ type: "Preempt", machines: ["vmss_77"] }, /no machine \\"vmss_77\\"/],
    [{ type: "Preempt", machines: [] }, /at least one/],
    [{ type: "Preempt", machines: ["vmss_0"], seconds: 3 }, /unknown key \\"seconds\\"/],
  ] as const) {
    await assert.rejects(announce(body), expected);
  }
});

test("an event is seen by every machine of the scale set, and cancelled through the control endpoint", async () => {
  const before = (await documentOf("vmss_0")).DocumentIncarnation;
  const { EventId } = await announce({ type: "Redeploy", machines: ["vmss000001"] });
  const { DocumentIncarnation, Events } = await documentOf("vmss_0");
  assert.equal(DocumentIncarnation, before + 1);
  assert.deepEqual(Events[0]?.["Resources"], ["vmss_1"]);
  assert.deepEqual(await azure.control("GET", "/scheduled-events"), { events: Events });
  assert.deepEqual(await azure.control("DELETE", `/scheduled-events/${EventId}`), { cancelled: true });
  assert.deepEqual((await documentOf("vmss_0")).Events, []);
});

test("faults make the service slow or silent", async () => {
  const path = "**/scheduledevents";
  await azure.control("POST", "/faults", [
    { path, effect: { kind: "status", status: 503 } },
    { path, skip: 1, effect: { kind: "cutBefore" } },
  ]);
  assert.equal((await ask("vmss_0", EVENTS)).status, 503);
  await assert.rejects(ask("vmss_0", EVENTS));
  assert.equal((await ask("vmss_0", EVENTS)).status, 200);
});

test("an approved termination deletes the machine at once", async () => {
  const { EventId } = await announce({ type: "Terminate", machines: ["vmss_3"], noticeSeconds: 600 });
  const approve = (id: string, text?: string) =>
    ask("vmss_3", EVENTS, {
      method: "POST",
      headers: { Metadata: "true" },
      body: text ?? JSON.stringify({ StartRequests: [{ EventId: id }] }),
    });
  assert.equal((await approve("unknown")).status, 400);
  assert.equal((await approve("", "garbage")).status, 400);
  assert.deepEqual(await approve(EventId), { status: 200, text: "" });
  assert.deepEqual(await instances(), ["vmss_0", "vmss_1", "vmss_2"]);
  assert.equal((await ask("vmss_3", EVENTS)).status, 404);
});

test("a preempted machine is gone with its connections; clients see errors until the probes have noticed", async () => {
  const balancers = await balancersOf(azure);
  const plane = dataPlaneAt(azure.controlUrl);
  await balancers.securityRule("open", {});
  const members = azure.nodes.slice(0, 2).map(({ ip }) => ip);
  const backends = await Promise.all(members.map((ip) => echoBackend(ip)));
  after(() => Promise.all(backends.map((backend) => backend.close())));
  await plane.map(Object.fromEntries(members.map((ip, at) => [ip, { "*": backends[at]?.port }])));
  const address = await balancers.make({ name: "eviction", members });
  const { listener } = await plane.eligible(address, 80, members);
  const [, doomed = ""] = members;
  const held = await untilReached(listener.port, doomed);
  await announce({ type: "Preempt", machines: ["vmss_1"], noticeSeconds: 1 });
  assert.equal(await held.gone(), "reset");
  assert.deepEqual(await instances(), ["vmss_0", "vmss_2"]);
  await eventually(async () => assert.rejects(visit(listener.port)), PATIENCE_MS);
  await plane.settings({ probeIntervalFactor: 0.02 });
  await plane.eligible(address, 80, members.slice(0, 1));
});

async function untilReached(port: number, backend: string) {
  for (;;) {
    const connection = await openConnection(port);
    if (connection.backend === backend) return connection;
    await connection.finish();
  }
}
