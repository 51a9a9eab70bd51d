/** Opens an ARM client for the cloud and the credentials that the cloud config names, over real connections. */
import { ArmClient } from "../azure/arm/arm-client.ts";
import type { CallReport } from "../azure/arm/arm-exchange.ts";
import { findCloud } from "../azure/arm/clouds.ts";
import { inTenant, signIn } from "../azure/arm/credentials.ts";
import { HttpTransport } from "../azure/arm/http-transport.ts";
import { CachedTokens } from "../azure/arm/token-source.ts";
import type { Credential, CredentialConfig } from "../core/config/credential-config.ts";
import { realClock } from "./real-clock.ts";

export interface AzureAccessOptions {
  readonly credentials: CredentialConfig;
  /** Subscription of the network resources; needed if it belongs to another tenant. */
  readonly networkSubscriptionId?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userAgent: string;
  readonly onCall?: (call: CallReport) => void;
}

export interface AzureAccess {
  readonly client: ArmClient;
  close(): Promise<void>;
}

export async function openArmClient(options: AzureAccessOptions): Promise<AzureAccess> {
  const { credentials, networkSubscriptionId, env, userAgent, onCall } = options;
  const transport = new HttpTransport({ caFile: credentials.caFile, env });
  const cloud = await findCloud(credentials, transport, env["AZURE_ENVIRONMENT_FILEPATH"]);
  const tokensOf = (credential: Credential): CachedTokens =>
    new CachedTokens(signIn(credential, cloud, transport), realClock);
  const client = new ArmClient({
    cloud,
    transport,
    tokens: tokensOf(credentials.credential),
    ...(networkSubscriptionId !== undefined &&
      credentials.networkTenantId !== undefined && {
        network: {
          subscriptionId: networkSubscriptionId,
          tokens: tokensOf(inTenant(credentials.credential, credentials.networkTenantId)),
        },
      }),
    clock: realClock,
    random: Math.random,
    userAgent: credentials.userAgent ?? userAgent,
    ...(onCall !== undefined && { onCall }),
  });
  return { client, close: () => transport.close() };
}
