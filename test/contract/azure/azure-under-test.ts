/**
 * An emulator and the official clients that talk to it: both majors of the network SDK (their long-running-operation
 * code differs), compute, and identity with a client secret. All traffic is HTTPS with a private CA. Each client is loaded
 * when it is first asked for: together they are a thousand modules, a second of processor time, and most suites use none.
 */
import { createRequire } from "node:module";
import { after } from "node:test";
import tls from "node:tls";

import type * as Compute from "@azure/arm-compute";
import type * as Network39 from "@azure/arm-network";
import type * as Identity from "@azure/identity";
import type * as Network36 from "arm-network-36";

import { startAzure, type AzureOptions, type RunningAzure } from "../../../sandbox/azure/index.ts";

const load = createRequire(import.meta.url);

/** The surface that both majors share, in the older one's types. */
export type NetworkClient = Network36.NetworkManagementClient;

export interface AzureUnderTest extends RunningAzure {
  readonly credential: Identity.ClientSecretCredential;
  readonly compute: Compute.ComputeManagementClient;
  /** Label and client of each major. */
  readonly networks: readonly { readonly label: string; readonly client: NetworkClient }[];
  readonly network: NetworkClient;
  control(method: string, path: string, body?: unknown): Promise<unknown>;
}

/** Closed after the test that started it, or after the file; not to be called from a `before` hook. */
export async function azureUnderTest(options: AzureOptions = {}): Promise<AzureUnderTest> {
  const azure = await startAzure(options);
  after(() => azure.close());
  return clientsOf(azure);
}

export function clientsOf(azure: RunningAzure): AzureUnderTest {
  trust(azure.caPem);
  const endpoint = azure.armEndpoint;
  const credential = once(() => {
    const { tenantId, clientId, clientSecret } = azure.account;
    const { ClientSecretCredential } = load("@azure/identity") as typeof Identity;
    const how = { authorityHost: endpoint, disableInstanceDiscovery: true };
    return new ClientSecretCredential(tenantId, clientId, clientSecret, how);
  });
  const compute = once(() => {
    const { ComputeManagementClient } = load("@azure/arm-compute") as typeof Compute;
    return new ComputeManagementClient(credential(), azure.subscriptionId, { endpoint });
  });
  const network = once(() => {
    const { NetworkManagementClient } = load("arm-network-36") as typeof Network36;
    return new NetworkManagementClient(credential(), azure.subscriptionId, { endpoint });
  });
  const networks = once(() => {
    const { NetworkManagementClient } = load("@azure/arm-network") as typeof Network39;
    const client39 = new NetworkManagementClient(credential(), azure.subscriptionId, { endpoint });
    return [
      { label: "arm-network 39", client: client39 as unknown as NetworkClient },
      { label: "arm-network 36", client: network() },
    ];
  });
  return {
    ...azure,
    get credential() {
      return credential();
    },
    get compute() {
      return compute();
    },
    get networks() {
      return networks();
    },
    get network() {
      return network();
    },
    control: (method, path, body) => control(azure.controlUrl, method, path, body),
  };
}

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** Everything that a paged list yields. */
export async function listed<Item>(pages: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of pages) items.push(item);
  return items;
}

/** Adds a CA to those that this process trusts, as NODE_EXTRA_CA_CERTS would have at its start. */
export function trust(caPem: string): void {
  tls.setDefaultCACertificates([...tls.getCACertificates("default"), caPem]);
}

async function control(controlUrl: string, method: string, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${controlUrl}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  const text = await response.text();
  const value: unknown = text === "" ? undefined : JSON.parse(text);
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return value;
}
