import assert from "node:assert/strict";
import { test } from "node:test";
import { aNode } from "../../test/support/core-world.ts";
import { aLoadBalancer } from "../../test/support/fragments.ts";
import type { Compute } from "./backends/compute.ts";
import { movesPrivateLink, showsUnlistedLink, takesAway, takesPoolsAway, unlistedMachines } from "./freshness.ts";
import type { PrivateLinkService, SecurityGroup } from "./model/arm.ts";
import type { Node } from "./model/kubernetes.ts";

const GROUP = "/subscriptions/sub/resourceGroups/rg/providers";
const VM = `${GROUP}/Microsoft.Compute/virtualMachines/vm1`;
const NIC = `${GROUP}/Microsoft.Network/networkInterfaces/nic1`;
const NOTHING: Compute = {
  virtualMachines: new Map(),
  networkInterfaces: new Map(),
  scaleSets: new Map(),
  instances: new Map(),
};

function nodeOn(providerID: string): Node {
  const node = aNode("node", ["10.0.0.4"]);
  return { ...node, spec: { ...node.spec, providerID } };
}

test("a machine counts as listed with its network interface only", () => {
  const node = nodeOn(`azure://${VM}`);
  const machine = { id: VM, name: "vm1", properties: { networkProfile: { networkInterfaces: [{ id: NIC }] } } };
  const withMachine = { ...NOTHING, virtualMachines: new Map([[VM.toLowerCase(), machine]]) };
  const nic = { id: NIC, name: "nic1", properties: {} };
  const withBoth = { ...withMachine, networkInterfaces: new Map([[NIC.toLowerCase(), nic]]) };
  assert.deepEqual(unlistedMachines([node], NOTHING), [VM.toLowerCase()]);
  assert.deepEqual(unlistedMachines([node], withMachine), [VM.toLowerCase()]);
  assert.deepEqual(unlistedMachines([node], withBoth), []);
});

test("what is no Azure machine is never waited for", () => {
  assert.deepEqual(unlistedMachines([nodeOn("k3s://node"), nodeOn("")], NOTHING), []);
});

test("a pool that goes takes its machines along, one that comes does not", () => {
  const one = aLoadBalancer({ pools: ["kubernetes"] });
  const both = aLoadBalancer({ pools: ["kubernetes", "kubernetes-IPv6"] });
  assert.equal(takesPoolsAway(one, undefined), true);
  assert.equal(takesPoolsAway(undefined, undefined), true);
  assert.equal(takesPoolsAway(both, one), true);
  assert.equal(takesPoolsAway(one, both), false);
  assert.equal(takesPoolsAway(undefined, one), false);
});

test("a private link service makes load balancers stale when it comes, moves or goes, not when it changes", () => {
  const link = (frontend: string, fqdns: readonly string[] = []): PrivateLinkService => ({
    id: "link",
    name: "link",
    properties: { fqdns, loadBalancerFrontendIpConfigurations: [{ id: frontend }] },
  });
  assert.ok(movesPrivateLink(undefined, link("a")));
  assert.ok(movesPrivateLink(link("a"), link("b")));
  assert.ok(movesPrivateLink(link("a"), undefined));
  assert.ok(!movesPrivateLink(link("a"), link("A", ["x"])));
});

test("a frontend that shows a private link service of the group that its list has not makes the list stale", () => {
  const path = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/privateLinkServices";
  const shown = { id: `${path}/one` };
  const frontend = { name: "f", properties: { privateLinkServices: [shown] } };
  const loadBalancer = { id: "lb", name: "lb", properties: { frontendIPConfigurations: [frontend] } };
  const one = { id: shown.id.toUpperCase(), name: "one", properties: {} };
  assert.ok(showsUnlistedLink([loadBalancer], path, []));
  assert.ok(!showsUnlistedLink([loadBalancer], path, [one]));
  assert.ok(!showsUnlistedLink([loadBalancer], path.replace("/rg/", "/other/"), []));
});

test("a write takes away what a rule was, or let in; rules that come, grow or change otherwise take nothing", () => {
  const group = (rules: Readonly<Record<string, object>>): SecurityGroup => {
    const usual = { protocol: "Tcp", access: "Allow", direction: "Inbound", priority: 500 };
    const securityRules = Object.entries(rules).map(([name, more]) => ({ name, properties: { ...usual, ...more } }));
    return { id: "nsg", name: "nsg", properties: { securityRules } };
  };
  const one = { destinationAddressPrefix: "1.1.1.1", destinationPortRanges: ["80"], sourceAddressPrefix: "Internet" };
  const two = { ...one, destinationAddressPrefix: undefined, destinationAddressPrefixes: ["1.1.1.1", "2.2.2.2"] };
  assert.ok(takesAway(group({ one }), group({})));
  assert.ok(takesAway(group({ two }), group({ two: one })));
  assert.ok(takesAway(group({ one }), group({ one: { ...one, destinationPortRanges: ["443"] } })));
  assert.ok(takesAway(group({ one }), group({ one: { ...one, sourceAddressPrefix: "10.0.0.0/8" } })));
  assert.ok(takesAway(group({ one }), undefined));
  assert.ok(!takesAway(group({ one }), group({ one, two })));
  assert.ok(!takesAway(group({ one }), group({ one: two })));
  assert.ok(!takesAway(group({ one }), group({ one: { ...one, priority: 501 } })));
  const balancer = (rules: readonly string[]) => {
    const loadBalancingRules = rules.map((name) => ({ name, properties: { protocol: "Tcp", frontendPort: 80 } }));
    return { id: "lb", name: "lb", properties: { loadBalancingRules } };
  };
  assert.ok(takesAway(balancer(["a", "b"]), balancer(["b"])));
  assert.ok(!takesAway(balancer(["b"]), balancer(["a", "b"])));
});
