/**
 * An emulator and the official clients that talk to it: both majors of the network SDK (their long-running-operation
 * code differs), compute, and identity with a client secret. All traffic is HTTPS with a private CA.
 */
import { after } from "node:test";
import tls from "node:tls";

import { ComputeManagementClient } from "@azure/arm-compute";
import { NetworkManagementClient as NetworkClient39 } from "@azure/arm-network";
import { ClientSecretCredential } from "@azure/identity";
import { NetworkManagementClient as NetworkClient36 } from "arm-network-36";

import { startAzure, type AzureOptions, type RunningAzure } from "../../../sandbox/azure/index.ts";

/** The surface that both majors share, in the older one's types. */
export type NetworkClient = NetworkClient36;

export interface AzureUnderTest extends RunningAzure {
  readonly credential: ClientSecretCredential;
  readonly compute: ComputeManagementClient;
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
  const { tenantId, clientId, clientSecret } = azure.account;
  const credential = new ClientSecretCredential(tenantId, clientId, clientSecret, {
    authorityHost: azure.armEndpoint,
    disableInstanceDiscovery: true,
  });
  const endpoint = azure.armEndpoint;
  const client36 = new NetworkClient36(credential, azure.subscriptionId, { endpoint });
  const client39 = new NetworkClient39(credential, azure.subscriptionId, { endpoint });
  return {
    ...azure,
    credential,
    compute: new ComputeManagementClient(credential, azure.subscriptionId, { endpoint }),
    networks: [
      { label: "arm-network 39", client: client39 as unknown as NetworkClient },
      { label: "arm-network 36", client: client36 },
    ],
    network: client36,
    control: (method, path, body) => control(azure.controlUrl, method, path, body),
  };
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
