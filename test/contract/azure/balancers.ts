/** Load balancers for tests of the data plane, made as any client of Azure makes them: with PUTs. */
import assert from "node:assert/strict";

import type { RunningAzure } from "../../../sandbox/azure/index.ts";
import { eventually } from "../../support/eventually.ts";
import { PATIENCE_MS } from "../../support/data-plane.ts";
import { armHttp, type WireAnswer } from "./arm-http.ts";

export interface BalancerOptions {
  readonly name: string;
  /** Addresses of its members. */
  readonly members: readonly string[];
  readonly sku?: "Standard" | "Basic";
  readonly isInternal?: boolean;
  /** Of its public address. */
  readonly version?: "IPv4" | "IPv6";
  /** Properties of the rule and the probe that differ from a plain web server's; probe `null`: none. */
  readonly rule?: Readonly<Record<string, unknown>>;
  readonly probe?: Readonly<Record<string, unknown>> | null;
}

export interface Balancers {
  readonly network: string;
  put(path: string, body: unknown): Promise<WireAnswer>;
  get(path: string): Promise<WireAnswer>;
  remove(path: string): Promise<WireAnswer>;
  /** Makes it, its address and its pool of addresses; resolves with the address of its frontend. */
  make(options: BalancerOptions): Promise<string>;
  /** PUTs the pool with these admin states; members that are not named have none. */
  setAdminStates(
    name: string,
    members: readonly string[],
    states: Readonly<Record<string, string>>,
  ): Promise<WireAnswer>;
  /** Writes an inbound rule of the nodes' security group; it allows everything but for what is said. */
  securityRule(name: string, rule: Readonly<Record<string, unknown>>): Promise<void>;
}

const OPEN = {
  access: "Allow",
  direction: "Inbound",
  priority: 200,
  protocol: "*",
  sourceAddressPrefix: "*",
  sourcePortRange: "*",
  destinationAddressPrefix: "*",
  destinationPortRange: "*",
};

export async function balancersOf(azure: RunningAzure): Promise<Balancers> {
  const arm = await armHttp(azure);
  const network = `/subscriptions/${azure.subscriptionId}/resourceGroups/${azure.resourceGroup}/providers/Microsoft.Network`;
  const url = (path: string): string => `${path}?api-version=2025-05-01`;
  const location = "westus2";

  async function put(path: string, body: unknown): Promise<WireAnswer> {
    const answer = await arm.send("PUT", url(path), { body });
    assert.ok(answer.status < 300, answer.text);
    return answer;
  }

  const get = (path: string): Promise<WireAnswer> => arm.send("GET", url(path));

  async function succeeded(path: string): Promise<void> {
    await eventually(async () => {
      const { properties } = (await get(path)).body as { properties: { provisioningState: string } };
      assert.equal(properties.provisioningState, "Succeeded");
    }, PATIENCE_MS);
  }

  function pool(members: readonly string[], states: Readonly<Record<string, string>> = {}): unknown {
    const virtualNetwork = { id: `${network}/virtualNetworks/vnet` };
    return {
      properties: {
        loadBalancerBackendAddresses: members.map((ipAddress) => ({
          name: `member-${ipAddress}`,
          properties: { ipAddress, virtualNetwork, ...(states[ipAddress] && { adminState: states[ipAddress] }) },
        })),
      },
    };
  }

  async function makeAddress(name: string, sku: string, version: string): Promise<unknown> {
    const path = `${network}/publicIPAddresses/${name}`;
    await put(path, {
      location,
      sku: { name: sku },
      properties: { publicIPAllocationMethod: "Static", publicIPAddressVersion: version },
    });
    await succeeded(path);
    return { publicIPAddress: { id: path } };
  }

  async function addressOf(balancer: string, name: string): Promise<string> {
    type Frontend = { properties: { privateIPAddress?: string } };
    const { body } = await get(balancer);
    const [frontend] = (body as { properties: { frontendIPConfigurations: Frontend[] } }).properties
      .frontendIPConfigurations;
    const inside = frontend?.properties.privateIPAddress;
    if (inside !== undefined) return inside;
    const address = await get(`${network}/publicIPAddresses/${name}`);
    return (address.body as { properties: { ipAddress: string } }).properties.ipAddress;
  }

  return {
    network,
    put,
    get,
    remove: (path) => arm.send("DELETE", url(path)),
    async make({ name, members, sku = "Standard", isInternal = false, version = "IPv4", rule = {}, probe = {} }) {
      const balancer = `${network}/loadBalancers/${name}`;
      const subnet = { subnet: { id: `${network}/virtualNetworks/vnet/subnets/subnet` } };
      const reference = (kind: string, child: string) => ({ id: `${balancer}/${kind}/${child}` });
      await put(balancer, {
        location,
        sku: { name: sku },
        properties: {
          frontendIPConfigurations: [
            { name: "front", properties: isInternal ? subnet : await makeAddress(name, sku, version) },
          ],
          backendAddressPools: [{ name: "pool", ...(sku === "Basic" ? {} : (pool(members) as object)) }],
          probes:
            probe === null
              ? []
              : [{ name: "probe", properties: { protocol: "Tcp", port: 30_080, intervalInSeconds: 5, ...probe } }],
          loadBalancingRules: [
            {
              name: "web",
              properties: {
                frontendIPConfiguration: reference("frontendIPConfigurations", "front"),
                backendAddressPool: reference("backendAddressPools", "pool"),
                ...(probe !== null && { probe: reference("probes", "probe") }),
                protocol: "Tcp",
                frontendPort: 80,
                backendPort: 30_080,
                ...rule,
              },
            },
          ],
        },
      });
      await succeeded(balancer);
      return addressOf(balancer, name);
    },
    setAdminStates: (name, members, states) =>
      put(`${network}/loadBalancers/${name}/backendAddressPools/pool`, pool(members, states)),
    async securityRule(name, rule) {
      const path = `${network}/networkSecurityGroups/nsg/securityRules/${name}`;
      await put(path, { properties: { ...OPEN, ...rule } });
      await succeeded(path);
    },
  };
}
