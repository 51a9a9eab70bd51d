/** Opens an ARM client for the cloud and the credentials that the cloud config names, over real connections. */
import { ArmClient } from "../azure/arm/arm-client.ts";
import type { CallReport } from "../azure/arm/arm-exchange.ts";
import { findCloud } from "../azure/arm/clouds.ts";
import { inTenant, signIn } from "../azure/arm/credentials.ts";
import { HttpTransport } from "../azure/arm/http-transport.ts";
import { ReadOnlyTransport } from "../azure/arm/read-only-transport.ts";
import type { ArmTransport } from "../azure/arm/transport.ts";
import { CachedTokens } from "../azure/arm/token-source.ts";
import type { BudgetLimits } from "../azure/budget/limits.ts";
import type { Credential, CredentialConfig } from "../core/config/credential-config.ts";
import type { Clock } from "../core/util/clock.ts";
import type { Log } from "../core/util/log.ts";
import type { Tracer } from "../core/util/tracer.ts";
import { realClock } from "./real-clock.ts";
import { stderrLog } from "./stderr-log.ts";
import { openTracing } from "./tracing.ts";

export interface AzureAccessOptions {
  readonly credentials: CredentialConfig;
  /** Reads them again for each sign-in, so that rotated ones need no restart; where that fails, the last ones are used. */
  readonly reload?: () => Promise<CredentialConfig>;
  /** Subscription of the network resources; needed if it belongs to another tenant. */
  readonly networkSubscriptionId?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userAgent: string;
  readonly onCall?: (call: CallReport) => void;
  /** Writes fail before they leave; sign-ins are no writes. */
  readonly readOnly?: boolean;
  /** Around the wire to ARM, sign-ins aside: for a caller that keeps a record of it. */
  readonly around?: ((transport: ArmTransport) => ArmTransport) | undefined;
  /** What the budget may spend; absent: what Azure grants. */
  readonly limits?: BudgetLimits;
  /** Absent: real time. */
  readonly clock?: Clock;
  /** For what is wrong with traces; absent: stderr. */
  readonly log?: Log;
  /** Ends the questions that are asked before there is a client. */
  readonly signal?: AbortSignal;
}

export interface AzureAccess {
  readonly client: ArmClient;
  /** Control endpoint of an emulated Azure. */
  readonly emulatorControl: string | undefined;
  /** Absent where no traces are asked for. */
  readonly tracer: Tracer | undefined;
  close(): Promise<void>;
}

export async function openArmClient(options: AzureAccessOptions): Promise<AzureAccess> {
  const { credentials, networkSubscriptionId, env, userAgent, onCall, clock = realClock } = options;
  const transport = new HttpTransport({ caFile: credentials.caFile, env });
  const { signal: opening } = options;
  const cloud = await findCloud(credentials, transport, env["AZURE_ENVIRONMENT_FILEPATH"], opening).catch(
    async (error: unknown) => {
      await transport.close();
      throw error;
    },
  );
  let last = credentials;
  const tokensOf = (credentialOf: (config: CredentialConfig) => Credential): CachedTokens =>
    new CachedTokens(async (signal) => {
      last = (await options.reload?.().catch(() => undefined)) ?? last;
      return signIn(credentialOf(last), cloud, transport)(signal);
    }, clock);
  const { networkTenantId } = credentials;
  const tracing = await openTracing(env, options.log ?? stderrLog());
  const client = new ArmClient({
    cloud,
    transport:
      options.readOnly === true ? new ReadOnlyTransport(transport) : (options.around?.(transport) ?? transport),
    tokens: tokensOf(({ credential }) => credential),
    ...(networkSubscriptionId !== undefined &&
      networkTenantId !== undefined && {
        network: {
          subscriptionId: networkSubscriptionId,
          tokens: tokensOf(({ credential }) => inTenant(credential, networkTenantId)),
        },
      }),
    clock,
    random: Math.random,
    userAgent: credentials.userAgent ?? userAgent,
    ...(onCall !== undefined && { onCall }),
    tracer: tracing?.tracer,
    ...(options.limits !== undefined && { limits: options.limits }),
  });
  const close = async (): Promise<void> => {
    await transport.close();
    await tracing?.close();
  };
  return { client, emulatorControl: cloud.emulatorControl, tracer: tracing?.tracer, close };
}
