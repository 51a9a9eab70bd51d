/**
 * Our own ARM client, group commit and mirror against the emulator, over HTTPS with its private authority; or, with
 * `plainHttp`, without: hundreds of handshakes at once take a busy machine longer than a connection may.
 */
import { after } from "node:test";

import type { AzureOptions } from "../../../sandbox/azure/index.ts";
import type { CallReport } from "../../../src/azure/arm/arm-exchange.ts";
import type { AttemptReport, ArmBody } from "../../../src/azure/group-commit/commit-types.ts";
import { GroupCommit } from "../../../src/azure/group-commit/group-commit.ts";
import type { Credential, CredentialConfig } from "../../../src/core/config/credential-config.ts";
import { openArmClient } from "../../../src/main/azure-access.ts";
import { realClock } from "../../../src/main/real-clock.ts";
import { azureUnderTest, type AzureUnderTest } from "../../contract/azure/azure-under-test.ts";

/** The subscription and group of `test/support/fragments.ts`. */
const ACCOUNT = { subscriptionId: "sub", resourceGroup: "rg" };
export const NETWORK = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network";
export const CREATE = { priority: "create" } as const;

export async function armUnderTest(options: AzureOptions = {}) {
  const azure = await azureUnderTest({ topology: { nodes: 0 }, account: ACCOUNT, ...options });
  const calls: CallReport[] = [];
  const access = await openArmClient({
    credentials: credentialsFor(azure),
    env: {},
    userAgent: "azlb/test",
    onCall: (call) => calls.push(call),
  });
  after(() => access.close());
  const { client } = access;
  const attempts: AttemptReport[] = [];
  const known = new Map<string, ArmBody | null | undefined>();
  const commit = new GroupCommit({
    client,
    clock: realClock,
    random: Math.random,
    mayWrite: () => true,
    lastSeen: (id) => known.get(id.toLowerCase()),
    onSeen: (id, body) => void known.set(id.toLowerCase(), body),
    onAttempt: (report) => attempts.push(report),
  });
  const arm = (fault: Record<string, unknown>): Promise<unknown> => azure.control("POST", "/faults", fault);
  return { azure, client, commit, calls, attempts, known, arm };
}

export function credentialsFor(azure: AzureUnderTest, credential?: Credential): CredentialConfig {
  const { tenantId, clientId, clientSecret } = azure.account;
  return {
    credential: credential ?? { kind: "secret", tenantId, clientId, secret: clientSecret },
    networkTenantId: undefined,
    cloudName: "AzureCloud",
    cloud: "AzurePublicCloud",
    resourceManagerEndpoint: azure.httpEndpoint ?? azure.armEndpoint,
    azureStack: false,
    userAgent: undefined,
    caFile: azure.caFile,
  };
}

export const PUBLIC_IP = {
  location: "westus2",
  sku: { name: "Standard" },
  properties: { publicIPAllocationMethod: "Static" },
};
