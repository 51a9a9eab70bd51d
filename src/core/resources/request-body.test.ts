import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../../test/support/laws.ts";
import { requestBodyOf } from "./kinds.ts";

const NETWORK = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network";
const LB = `${NETWORK}/loadBalancers/lb`;
const NSG = `${NETWORK}/networkSecurityGroups/nsg`;
const PIP = `${NETWORK}/publicIPAddresses/pip`;
const NIC = `${NETWORK}/networkInterfaces/nic`;
const SCALE_SET = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/vmss";
const FRONTEND = { id: `${LB}/frontendIPConfigurations/front` };
const POOL = { id: `${LB}/backendAddressPools/pool` };
const PROBE = { id: `${LB}/probes/probe` };
const RULE = { id: `${LB}/loadBalancingRules/rule` };
const MEMBER_NIC = { id: `${NIC}/ipConfigurations/ipconfig` };

/** With everything that Azure adds to what was written. */
function resource(id: string, properties: object, rest: object = {}) {
  const [type = "", name = ""] = id.split("/").slice(-2);
  const state = { provisioningState: "Succeeded", resourceGuid: "0-0" };
  return { name, id, etag: "W/1", type: `Microsoft.Network/${type}`, ...rest, properties: { ...state, ...properties } };
}

function part(id: string, properties: object, rest: object = {}) {
  const [list, name] = id.split("/").slice(-2);
  const state = { provisioningState: "Succeeded" };
  return { name, id, etag: "W/1", type: `Some/${list}`, ...rest, properties: { ...state, ...properties } };
}

test("of a load balancer the settings, references and unknown fields are sent, not what Azure alone writes", () => {
  const settings = { protocol: "Tcp", frontendPort: 80, future: { a: 1 }, backendAddressPool: POOL, probe: PROBE };
  const filledIn = { enableDestinationServiceEndpoint: false, allowBackendPortConflict: false };
  const users = { loadBalancingRules: [RULE], inboundNatRules: [RULE], outboundRules: [RULE] };
  const members = [
    part(`${POOL.id}/loadBalancerBackendAddresses/a`, { ipAddress: "10.0.0.4", adminState: "Down" }),
    part(`${POOL.id}/loadBalancerBackendAddresses/b`, {
      networkInterfaceIPConfiguration: MEMBER_NIC,
      inboundNatRulesPortMapping: [{ frontendPort: 50_000 }],
    }),
  ];
  const body = resource(
    LB,
    {
      frontendIPConfigurations: [
        part(
          FRONTEND.id,
          { publicIPAddress: { id: PIP }, privateIPAllocationMethod: "Dynamic", ...users },
          { zones: [] },
        ),
      ],
      backendAddressPools: [
        part(POOL.id, {
          ...users,
          outboundRule: RULE,
          backendIPConfigurations: [MEMBER_NIC],
          loadBalancerBackendAddresses: members,
          future: [],
        }),
      ],
      loadBalancingRules: [
        part(RULE.id, { ...settings, frontendIPConfiguration: FRONTEND, ...filledIn, backendAddressPools: [POOL] }),
      ],
      probes: [part(PROBE.id, { protocol: "Tcp", port: 80, loadBalancingRules: [RULE] })],
      inboundNatRules: [part(`${LB}/inboundNatRules/nat`, { frontendPort: 22, backendIPConfiguration: MEMBER_NIC })],
      outboundRules: [part(`${LB}/outboundRules/out`, { protocol: "All", frontendIPConfigurations: [FRONTEND] })],
      future: { type: "kept", etag: "kept" },
    },
    { location: "here", tags: { type: "t", etag: "e" }, sku: { name: "Standard" }, future: [1] },
  );
  assert.deepEqual(requestBodyOf(LB, body), {
    name: "lb",
    id: LB,
    location: "here",
    tags: { type: "t", etag: "e" },
    sku: { name: "Standard" },
    future: [1],
    properties: {
      frontendIPConfigurations: [{ name: "front", zones: [], properties: { publicIPAddress: { id: PIP } } }],
      backendAddressPools: [
        {
          name: "pool",
          properties: {
            loadBalancerBackendAddresses: [
              { name: "a", properties: { ipAddress: "10.0.0.4", adminState: "Down" } },
              { name: "b", properties: { networkInterfaceIPConfiguration: MEMBER_NIC } },
            ],
            future: [],
          },
        },
      ],
      loadBalancingRules: [{ name: "rule", properties: { ...settings, frontendIPConfiguration: FRONTEND } }],
      probes: [{ name: "probe", properties: { protocol: "Tcp", port: 80 } }],
      inboundNatRules: [{ name: "nat", properties: { frontendPort: 22, backendIPConfiguration: MEMBER_NIC } }],
      outboundRules: [{ name: "out", properties: { protocol: "All", frontendIPConfigurations: [FRONTEND] } }],
      future: { type: "kept", etag: "kept" },
    },
  });
});

test("what differs from the value that Azure fills in is sent", () => {
  const other = { id: `${LB}/backendAddressPools/other` };
  const rule = {
    name: "rule",
    properties: {
      backendAddressPool: POOL,
      backendAddressPools: [POOL, other],
      enableDestinationServiceEndpoint: true,
      allowBackendPortConflict: true,
    },
  };
  const internal = {
    name: "in",
    properties: { subnet: { id: "s" }, privateIPAddress: "10.0.0.9", privateIPAllocationMethod: "Dynamic" },
  };
  const body = { name: "lb", id: LB, properties: { frontendIPConfigurations: [internal], loadBalancingRules: [rule] } };
  assert.deepEqual(requestBodyOf(LB, body), body);
});

test("what Azure has filled in is sent where other fields follow: their order stays", () => {
  const properties = { allowBackendPortConflict: false, future: 1, enableDestinationServiceEndpoint: false };
  const body = { name: "lb", id: LB, properties: { loadBalancingRules: [{ name: "rule", properties }] } };
  const { enableDestinationServiceEndpoint: _, ...sent } = properties;
  const request = { name: "lb", id: LB, properties: { loadBalancingRules: [{ name: "rule", properties: sent }] } };
  assert.equal(JSON.stringify(requestBodyOf(LB, body)), JSON.stringify(request));
});

test("a part whose id is not made of its name keeps it, in whatever case the others are written", () => {
  const odd = { name: "odd", id: `${NETWORK}/loadBalancers/another/probes/odd`, properties: {} };
  const body = { name: "lb", id: LB, properties: { probes: [odd, { ...PROBE, name: "PROBE", properties: {} }] } };
  assert.deepEqual(requestBodyOf(LB, body), {
    ...body,
    properties: { probes: [odd, { name: "PROBE", properties: {} }] },
  });
});

test("a pool that is written alone names its network interfaces", () => {
  const member = part(`${POOL.id}/loadBalancerBackendAddresses/a`, { networkInterfaceIPConfiguration: MEMBER_NIC });
  const properties = { loadBalancerBackendAddresses: [member], backendIPConfigurations: [MEMBER_NIC] };
  const body = part(POOL.id, { ...properties, loadBalancingRules: [RULE] });
  assert.deepEqual(requestBodyOf(POOL.id, body), {
    name: "pool",
    id: POOL.id,
    properties: {
      ...properties,
      loadBalancerBackendAddresses: [{ name: "a", properties: { networkInterfaceIPConfiguration: MEMBER_NIC } }],
    },
  });
});

test("of a security group the rules are sent, each list in the form that it has", () => {
  const lists = { sourcePortRanges: [], sourceAddressPrefixes: [], destinationAddressPrefixes: [] };
  const rule = { priority: 500, sourceAddressPrefix: "*", destinationPortRanges: ["80"], description: "" };
  const body = resource(NSG, {
    securityRules: [part(`${NSG}/securityRules/r`, { ...rule, ...lists })],
    defaultSecurityRules: [part(`${NSG}/defaultSecurityRules/d`, { priority: 65_000 })],
    networkInterfaces: [{ id: NIC }],
    subnets: [{ id: "s" }],
    flushConnection: true,
  });
  const properties = { securityRules: [{ name: "r", properties: rule }], flushConnection: true };
  assert.deepEqual(requestBodyOf(NSG, body), { name: "nsg", id: NSG, properties });
});

test("of a public IP the address and labels are sent, not the frontend that uses it", () => {
  const settings = { ipAddress: "20.0.0.8", dnsSettings: { domainNameLabel: "a", fqdn: "a.example" }, ipTags: [] };
  const body = resource(PIP, { ...settings, ipConfiguration: FRONTEND }, { zones: ["1"] });
  assert.deepEqual(requestBodyOf(PIP, body), { name: "pip", id: PIP, zones: ["1"], properties: settings });
});

test("a network interface is sent without ids and states of its configurations, a scale set whole", () => {
  const pools = { primary: true, loadBalancerBackendAddressPools: [POOL] };
  const body = resource(NIC, { nicType: "Standard", ipConfigurations: [part(MEMBER_NIC.id, pools)] });
  const properties = { nicType: "Standard", ipConfigurations: [{ name: "ipconfig", properties: pools }] };
  assert.deepEqual(requestBodyOf(NIC, body), { name: "nic", id: NIC, properties });
  const scaleSet = resource(SCALE_SET, { virtualMachineProfile: {} });
  assert.equal(requestBodyOf(SCALE_SET, scaleSet), scaleSet);
});

test("a field that bears the name of an object's own method is unknown like any other", () => {
  const odd = [{ name: "a", type: "kept", etag: "kept" }];
  const text = `{"constructor":${JSON.stringify(odd)},"propertyIsEnumerable":"probes","__proto__":{"a":1}}`;
  const body = { id: LB, name: "lb", properties: JSON.parse(text) as object };
  assert.equal(JSON.stringify(requestBodyOf(LB, body)), JSON.stringify(body));
});

test("what the controller does not write is sent as it is", () => {
  const id = `${NETWORK}/bastionHosts/b`;
  const body = resource(id, {});
  assert.equal(requestBodyOf(id, body), body);
  assert.equal(requestBodyOf(LB, undefined), undefined);
});

test("law: fields that are not known come back byte for byte, and a request rendered again is the same", () => {
  const unknown = fc.dictionary(
    fc.string({ maxLength: 6 }).map((name) => `x${name}`),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const lists = ["frontendIPConfigurations", "backendAddressPools", "loadBalancingRules", "probes", "outboundRules"];
  const parts = fc.array(fc.tuple(fc.constantFrom("a", "b"), unknown, unknown), { maxLength: 2 });
  fc.assert(
    fc.property(unknown, unknown, fc.constantFrom(...lists), parts, (top, properties, list, found) => {
      const written = found.map(([name, rest, inner]) => ({ ...rest, name, properties: inner }));
      const request = { id: LB, name: "lb", ...top, properties: { ...properties, [list]: written } };
      const read = written.map(({ properties: inner, ...rest }) => ({
        ...part(`${LB}/${list}/${rest.name}`, inner, rest),
      }));
      const rendered = requestBodyOf(LB, { ...request, etag: "W/1", properties: { ...properties, [list]: read } });
      assert.deepEqual(JSON.parse(JSON.stringify(rendered)), JSON.parse(JSON.stringify(request)));
      assert.equal(JSON.stringify(requestBodyOf(LB, rendered)), JSON.stringify(rendered));
    }),
  );
});
