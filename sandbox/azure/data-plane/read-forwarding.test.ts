/** From PUTs to what the network forwards: what has taken effect, and where its members are. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { apply, settle, type Change } from "../model/index.ts";
import { decide } from "../model/decide.ts";
import { NETWORK, azureWithGroup, API_VERSION } from "../model/test-azure.ts";
import { appliedState, applySucceeded } from "./applied-state.ts";
import { frontendsOf } from "./forwarding.ts";
import { flowAccess } from "./member-access.ts";
import { readForwarding } from "./read-forwarding.ts";
import { flow, frontend } from "./test-members.ts";

const LB = `${NETWORK}/loadBalancers/lb`;

/** A model whose changes the applied state follows, one by one, as the store's watcher does. */
function setUp() {
  const azure = azureWithGroup();
  const applied = appliedState(azure.state);
  const make = (changes: readonly Change[]): void => {
    apply(azure.state, changes);
    applySucceeded(applied, azure.state, changes);
  };
  const put = (path: string, body: object, tailMs = 0): void => {
    azure.tailMs = tailMs;
    const request = {
      method: "PUT" as const,
      path,
      query: { "api-version": API_VERSION },
      headers: {},
      body: { location: "eastus", ...body },
      nowMs: azure.nowMs,
      baseUrl: "https://arm.test",
    };
    const { response, changes } = decide(azure.state, request, azure.draws);
    assert.ok(response.status < 300, JSON.stringify(response.body));
    make(changes);
    if (tailMs === 0) pass(0);
  };
  const pass = (ms: number): void => {
    azure.nowMs += ms;
    make(settle(azure.state, azure.nowMs));
  };
  const rules = () => readForwarding(applied).rules;
  return { azure, applied, put, pass, rules, make };
}

type SetUp = ReturnType<typeof setUp>;

function pool(states: Readonly<Record<string, string>>) {
  const virtualNetwork = { id: `${NETWORK}/virtualNetworks/vnet` };
  const members = Object.entries(states).map(([ipAddress, adminState]) => ({
    name: ipAddress,
    properties: { ipAddress, virtualNetwork, adminState },
  }));
  return { properties: { loadBalancerBackendAddresses: members } };
}

function balancer(states: Readonly<Record<string, string>>) {
  return {
    sku: { name: "Standard" },
    properties: {
      frontendIPConfigurations: [
        { name: "public", properties: { publicIPAddress: { id: `${NETWORK}/publicIPAddresses/ip` } } },
      ],
      backendAddressPools: [{ name: "pool", ...pool(states) }],
      probes: [
        { name: "probe", properties: { protocol: "Http", port: 30080, requestPath: "/ok", intervalInSeconds: 7 } },
      ],
      loadBalancingRules: [
        {
          name: "web",
          properties: {
            frontendIPConfiguration: { id: `${LB}/frontendIPConfigurations/public` },
            backendAddressPool: { id: `${LB}/backendAddressPools/pool` },
            probe: { id: `${LB}/probes/probe` },
            protocol: "Tcp",
            frontendPort: 80,
            backendPort: 30080,
            loadDistribution: "SourceIP",
            idleTimeoutInMinutes: 10,
            enableTcpReset: true,
          },
        },
      ],
    },
  };
}

function withNetwork({ put }: SetUp): void {
  put(`${NETWORK}/networkSecurityGroups/nsg`, {
    properties: {
      securityRules: [
        {
          name: "web",
          properties: {
            direction: "Inbound",
            access: "Allow",
            priority: 100,
            protocol: "Tcp",
            sourceAddressPrefix: "Internet",
            sourcePortRange: "*",
            destinationAddressPrefix: "*",
            destinationPortRange: "30080",
          },
        },
      ],
    },
  });
  const guarded = { networkSecurityGroup: { id: `${NETWORK}/networkSecurityGroups/nsg` } };
  put(`${NETWORK}/virtualNetworks/vnet`, {
    properties: {
      addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
      subnets: [
        { name: "guarded", properties: { addressPrefix: "10.0.0.0/24", ...guarded } },
        { name: "open", properties: { addressPrefix: "10.0.1.0/24" } },
      ],
    },
  });
  put(`${NETWORK}/publicIPAddresses/ip`, { sku: { name: "Standard" }, properties: {} });
}

test("a rule is read with its address, probe and members in order", () => {
  const set = setUp();
  withNetwork(set);
  set.put(LB, balancer({ "10.0.0.5": "None", "10.0.0.4": "Up" }));
  const [rule] = set.rules();
  assert.ok(rule);
  const { probe, members, address, loadBalancer: _, ...rest } = rule;
  assert.match(address, /^203\.0\.113\./);
  assert.deepEqual(
    members.map(({ ip, adminState }) => [ip, adminState]),
    [
      ["10.0.0.4", "Up"],
      ["10.0.0.5", "None"],
    ],
  );
  assert.deepEqual(probe, {
    id: `${LB}/probes/probe`,
    protocol: "Http",
    port: 30080,
    path: "/ok",
    intervalMs: 7_000,
    threshold: 1,
    allDownMeansUp: false,
  });
  assert.deepEqual(rest, {
    id: `${LB}/loadBalancingRules/web`,
    protocol: "Tcp",
    frontendPort: 80,
    backendPort: 30080,
    floatingIp: false,
    distribution: "SourceIP",
    idleTimeoutMs: 600_000,
    tcpReset: true,
    sku: "Standard",
    isInternal: false,
  });
  assert.deepEqual([...frontendsOf(set.rules(), []).keys()], [`${address}:80/tcp`]);
});

test("protocol All with a port is heard on that port, by both transports", () => {
  const set = setUp();
  withNetwork(set);
  const body = balancer({ "10.0.0.4": "None" });
  const [rule] = body.properties.loadBalancingRules;
  assert.ok(rule);
  set.put(LB, {
    ...body,
    properties: {
      ...body.properties,
      loadBalancingRules: [{ ...rule, properties: { ...rule.properties, protocol: "All" } }],
    },
  });
  const frontends = [...frontendsOf(set.rules(), [443]).values()];
  assert.deepEqual(
    frontends.map(({ transport, port, backendPort }) => [transport, port, backendPort]),
    [
      ["Tcp", 80, 30080],
      ["Udp", 80, 30080],
    ],
  );
});

test("a write takes effect when its operation succeeds, and not before", () => {
  const set = setUp();
  withNetwork(set);
  set.put(LB, balancer({ "10.0.0.4": "None" }), 1_000);
  assert.deepEqual(set.rules(), []);
  set.pass(1_000);
  set.put(`${LB}/backendAddressPools/pool`, pool({ "10.0.0.4": "Down" }), 1_000);
  assert.equal(set.rules()[0]?.members[0]?.adminState, "None");
  set.pass(999);
  assert.equal(set.rules()[0]?.members[0]?.adminState, "None");
  set.pass(1);
  assert.equal(set.rules()[0]?.members[0]?.adminState, "Down");
});

test("a write that fails takes no effect, and the one that repairs it does", () => {
  const set = setUp();
  withNetwork(set);
  set.put(LB, balancer({ "10.0.0.4": "None" }));
  set.azure.fate = { status: "Failed", code: "InternalServerError", message: "An error occurred." };
  set.put(LB, balancer({ "10.0.0.4": "Down" }));
  assert.equal(set.rules()[0]?.members[0]?.adminState, "None");
  set.azure.fate = undefined;
  set.put(LB, balancer({ "10.0.0.4": "Up" }));
  assert.equal(set.rules()[0]?.members[0]?.adminState, "Up");
});

test("a load balancer that is being deleted forwards until it is gone", () => {
  const set = setUp();
  withNetwork(set);
  set.put(LB, balancer({ "10.0.0.4": "None" }));
  const { changes } = (() => {
    set.azure.tailMs = 1_000;
    const request = {
      method: "DELETE" as const,
      path: LB,
      query: { "api-version": API_VERSION },
      headers: {},
      body: undefined,
      nowMs: set.azure.nowMs,
      baseUrl: "https://arm.test",
    };
    return decide(set.azure.state, request, set.azure.draws);
  })();
  set.make(changes);
  assert.equal(set.rules().length, 1);
  set.pass(1_000);
  assert.equal(set.rules().length, 0);
});

test("the subnet's security group decides; where there is none a public frontend is closed", () => {
  const set = setUp();
  withNetwork(set);
  set.put(LB, balancer({ "10.0.0.4": "None", "10.0.1.4": "None" }));
  const [rule] = set.rules();
  assert.ok(rule);
  const [guarded, open] = rule.members;
  assert.ok(guarded && open);
  const to = (destinationAddress: string, destinationPort: number) => flow({ destinationAddress, destinationPort });
  const access = (member: typeof guarded, port: number, of = rule) =>
    flowAccess(set.applied, member, to(member.ip, port), frontend(of));
  assert.deepEqual(access(guarded, 30080), { allowed: true, rule: "web" });
  assert.deepEqual(access(guarded, 22), { allowed: false, rule: "DenyAllInBound" });
  assert.equal(access(open, 30080).allowed, false);
  assert.equal(access(open, 30080, { ...rule, isInternal: true }).allowed, true);
  assert.equal(access(open, 30080, { ...rule, sku: "Basic" }).allowed, true);
});
