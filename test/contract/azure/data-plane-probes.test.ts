/** Health probes that really connect: what they ask, what they notice, and what happens when all of them fail. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { openCertificateAuthority } from "../../../sandbox/shared/certificate-authority.ts";
import { dataPlaneAt, memberAt, openConnection, PATIENCE_MS, visit } from "../../support/data-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { echoBackend, httpBackend } from "../../support/loopback-backends.ts";
import { armHttp } from "./arm-http.ts";
import { azureUnderTest } from "./azure-under-test.ts";
import { balancersOf, type BalancerOptions } from "./balancers.ts";

const azure = await azureUnderTest({ dataPlane: true, topology: { vmType: "standard" } });
const balancers = await balancersOf(azure);
const plane = dataPlaneAt(azure.controlUrl);
const NODES = azure.nodes.map(({ ip }) => ip);
const [FIRST = "", SECOND = ""] = NODES;
await plane.settings({ probeIntervalFactor: 0.02 });
await balancers.securityRule("open", {});

let nextPort = 31_000;

/**
 * A load balancer whose members each have an echo server behind the rule and an HTTP server behind the probe. Ports are
 * its own, so that no test sees another one's.
 */
async function probed(options: BalancerOptions) {
  const [port, probePort] = [nextPort++, nextPort++];
  const echoes = await Promise.all(options.members.map((ip) => echoBackend(ip)));
  const health = await Promise.all(options.members.map((ip) => httpBackend(ip)));
  after(() => Promise.all([...echoes, ...health].map((backend) => backend.close())));
  for (const [index, ip] of options.members.entries()) {
    await plane.map({ [ip]: { [port]: echoes[index]?.port, [probePort]: health[index]?.port } });
  }
  const address = await balancers.make({
    ...options,
    rule: { backendPort: port, ...options.rule },
    probe: { protocol: "Http", port: probePort, requestPath: "/healthz", ...options.probe },
  });
  return { address, probePort, health };
}

test("an HTTP probe asks its path of the member, and believes nothing but 200", async () => {
  const { address, probePort, health } = await probed({ name: "http", members: NODES });
  const [first] = health;
  assert.ok(first);
  const { listener } = await plane.eligible(address, 80, NODES);
  assert.deepEqual(first.probes[0], { path: "/healthz", host: `${FIRST}:${probePort}` });
  first.healthStatus = 204;
  await plane.eligible(address, 80, NODES.slice(1));
  for (let visits = 0; visits < 30; visits++) assert.notEqual(await visit(listener.port), FIRST);
  first.healthStatus = 200;
  await plane.eligible(address, 80, NODES);
});

test("Azure tells the health of a rule as its probes see it", async () => {
  const arm = await armHttp(azure);
  const { address, health } = await probed({ name: "told", members: NODES });
  await plane.eligible(address, 80, NODES);
  for (const server of health.slice(1)) server.healthStatus = 503;
  await plane.eligible(address, 80, [FIRST]);
  const rule = `${balancers.network}/loadBalancers/told/loadBalancingRules/web`;
  const asked = await arm.send("POST", `${rule}/health?api-version=2025-05-01`);
  const location = (asked.headers["location"] ?? "").replace(azure.armEndpoint, "");
  const { up, down } = (await arm.send("GET", location)).body as { up: number; down: number };
  assert.deepEqual([up, down], [1, NODES.length - 1]);
});

test("it takes as many probes in a row as the threshold says", async () => {
  const { address, health } = await probed({ name: "patient", members: NODES, probe: { probeThreshold: 4 } });
  const [first] = health;
  assert.ok(first);
  await plane.eligible(address, 80, NODES);
  const before = first.probes.length;
  first.healthStatus = 500;
  await plane.eligible(address, 80, NODES.slice(1));
  assert.ok(first.probes.length - before >= 4, `noticed after ${first.probes.length - before} probes`);
});

test("established connections outlive their member's probe", async () => {
  const { address, health } = await probed({ name: "outlive", members: [FIRST, SECOND] });
  const { listener } = await plane.eligible(address, 80, [FIRST, SECOND]);
  const held = await openConnection(listener.port);
  for (const server of health) server.healthStatus = 503;
  await plane.eligible(address, 80, []);
  assert.equal(await held.say("still here"), "still here");
  await assert.rejects(visit(listener.port));
  assert.deepEqual((await plane.frontend(address, 80)).refused, { noEligibleMember: 1 });
});

test("a pool of one that is probed down ends its connections", async () => {
  const { address, health } = await probed({ name: "single", members: [FIRST] });
  const { listener } = await plane.eligible(address, 80, [FIRST]);
  const held = await openConnection(listener.port);
  for (const server of health) server.healthStatus = 503;
  assert.equal(await held.gone(), "reset");
});

test("all probed down can mean all up", async () => {
  const { address, health } = await probed({
    name: "anyway",
    members: [FIRST, SECOND],
    probe: { noHealthyBackendsBehavior: "AllProbedUp" },
  });
  const { listener } = await plane.eligible(address, 80, [FIRST, SECOND]);
  for (const server of health) server.healthStatus = 503;
  await eventually(async () => {
    const { members } = await plane.frontend(address, 80);
    assert.deepEqual(
      members.map(({ probe, eligible }) => [probe, eligible]),
      [
        ["down", true],
        ["down", true],
      ],
    );
  }, PATIENCE_MS);
  assert.ok([FIRST, SECOND].includes(await visit(listener.port)));
});

test("an HTTPS probe does not care whose certificate it is", async () => {
  const directory = mkdtempSync(join(tmpdir(), "probe-"));
  after(() => rmSync(directory, { recursive: true }));
  const certificate = await (await openCertificateAuthority(directory)).issueServer();
  const server = await httpBackend("secure", certificate);
  after(() => server.close());
  await plane.map({ [FIRST]: { "30443": server.port } });
  const probe = { protocol: "Https", port: 30_443, requestPath: "/healthz" };
  const address = await balancers.make({ name: "https", members: [FIRST], probe });
  await plane.eligible(address, 80, [FIRST]);
  server.healthStatus = 500;
  await plane.eligible(address, 80, []);
});

test("a security group that shuts probes out takes a member down", async () => {
  const { address } = await probed({ name: "shut", members: NODES });
  await plane.eligible(address, 80, NODES);
  await balancers.securityRule("no-probes", {
    access: "Deny",
    priority: 100,
    sourceAddressPrefix: "AzureLoadBalancer",
  });
  await plane.eligible(address, 80, []);
  await balancers.remove(`${balancers.network}/networkSecurityGroups/nsg/securityRules/no-probes`);
  await plane.eligible(address, 80, NODES);
});

/** Puts the NICs of these nodes into a load balancer's pool. */
async function joinPool(balancer: string, nodes: readonly string[]): Promise<void> {
  const pool = { id: `${balancers.network}/loadBalancers/${balancer}/backendAddressPools/pool` };
  for (const node of nodes) {
    const path = `${balancers.network}/networkInterfaces/${node}-nic`;
    type Nic = { properties: { ipConfigurations: { properties: { loadBalancerBackendAddressPools?: unknown[] } }[] } };
    const nic = (await balancers.get(path)).body as Nic;
    const [configuration] = nic.properties.ipConfigurations;
    assert.ok(configuration);
    const pools = (configuration.properties.loadBalancerBackendAddressPools ??= []);
    pools.push(pool);
    await balancers.put(path, nic);
  }
}

test("Basic, with NICs for members: connections end when all probes are down", async () => {
  const [port, probePort] = [nextPort++, nextPort++];
  const [echo, health] = [await echoBackend("basic"), await httpBackend("basic")];
  after(() => Promise.all([echo.close(), health.close()]));
  for (const { name } of azure.nodes) await plane.map({ [name]: { [port]: echo.port, [probePort]: health.port } });
  const address = await balancers.make({
    name: "basic",
    sku: "Basic",
    members: [],
    rule: { backendPort: port },
    probe: { protocol: "Http", port: probePort, requestPath: "/healthz" },
  });
  await joinPool(
    "basic",
    azure.nodes.map(({ name }) => name),
  );
  const { listener } = await plane.eligible(address, 80, NODES);
  const held = await openConnection(listener.port);
  assert.equal(await held.say("hello"), "hello");
  health.healthStatus = 500;
  assert.equal(await held.gone(), "reset");
});

test("admin state of NIC members", async () => {
  const port = nextPort++;
  const echo = await echoBackend("nic");
  after(() => echo.close());
  for (const ip of NODES) await plane.map({ [ip]: { [port]: echo.port } });
  const address = await balancers.make({ name: "nics", members: [], rule: { backendPort: port }, probe: { port } });
  await joinPool(
    "nics",
    azure.nodes.map(({ name }) => name),
  );
  const { members } = await plane.eligible(address, 80, NODES);
  assert.deepEqual(
    members.map(({ node }) => node),
    azure.nodes.map(({ name }) => name),
  );
  const path = `${balancers.network}/loadBalancers/nics/backendAddressPools/pool`;
  type Entry = { name: string; properties: { networkInterfaceIPConfiguration: { id: string }; adminState?: string } };
  const pool = (await balancers.get(path)).body as { properties: { loadBalancerBackendAddresses: Entry[] } };
  const entry = pool.properties.loadBalancerBackendAddresses.find(({ properties }) =>
    properties.networkInterfaceIPConfiguration.id.includes(`/${azure.nodes[0]?.name}-nic/`),
  );
  assert.ok(entry);
  entry.properties.adminState = "Down";
  await balancers.put(path, pool);
  const seen = await plane.eligible(address, 80, NODES.slice(1));
  assert.equal(memberAt(seen, FIRST).adminState, "Down");
});
