/**
 * Starts an emulated Azure on loopback, for tests, `azlb azure` and `azlb sandbox`: `assemble.ts` builds its parts,
 * `listeners.ts` opens its ports.
 */
import { openCertificateAuthority } from "../shared/certificate-authority.ts";
import { openDataDirectory, type DataDirectory } from "../shared/data-directory.ts";
import { assemble } from "./assemble.ts";
import type { Account } from "./identity/account.ts";
import { openListeners } from "./listeners.ts";
import type { AzureOptions } from "./options.ts";
import { cloudConfigOf, guestEnvironment, raisedLimits, type CloudConfig } from "./seed/cloud-config.ts";
import { topologyNodes, type SeedNode } from "./seed/topology.ts";

export type { AzureOptions } from "./options.ts";
export { BadInput } from "../shared/input.ts";
export type { FlowEntry } from "./data-plane/flow-table.ts";
export type { FrontendView, MemberView } from "./data-plane/render.ts";
export { parseLatency, parseLimits } from "./control/settings.ts";
export { SANDBOX_ACCOUNT } from "./identity/account.ts";
export { parseSeed } from "./seed/seed.ts";
export { type SeedNode, type Topology } from "./seed/topology.ts";

export interface RunningAzure {
  readonly armEndpoint: string;
  /** Resource Manager over plain HTTP; `null` unless enabled. */
  readonly httpEndpoint: string | null;
  readonly controlUrl: string;
  /** Instance metadata: `/machines/NAME` below it is the base URL of a machine. */
  readonly metadataUrl: string;
  readonly caFile: string;
  readonly caPem: string;
  readonly cloudConfig: CloudConfig;
  readonly cloudConfigFile: string;
  readonly account: Account;
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  /** Environment variables for another controller. */
  readonly env: Readonly<Record<string, string>>;
  readonly nodes: readonly SeedNode[];
  close(): Promise<void>;
}

/** Throws `BadInput` for invalid options and seeds, after closing what was started. */
export async function startAzure(options: AzureOptions = {}): Promise<RunningAzure> {
  const directory = openDataDirectory(options.dataDir);
  try {
    return await startIn(directory, options);
  } catch (error) {
    directory.dispose();
    throw error;
  }
}

async function startIn(directory: DataDirectory, options: AzureOptions): Promise<RunningAzure> {
  const authority = await openCertificateAuthority(directory.pki);
  const parts = assemble(options, directory);
  const listeners = await openListeners(options, directory, authority, parts).catch(async (error: unknown) => {
    await parts.dataPlane?.close();
    throw error;
  });
  const { account } = parts;
  const reach = { armEndpoint: listeners.arm.url, plainUrl: listeners.plain.url, caFile: authority.caFile };
  parts.urls.authority = listeners.arm.url;
  parts.urls.control = listeners.control.url;
  parts.urls.audiences.push(listeners.arm.url, listeners.plain.url);
  const limits = raisedLimits(options.model?.limits ?? {});
  const cloudConfig = { ...cloudConfigOf(account, parts.topology, reach), ...limits };
  const running: RunningAzure = {
    armEndpoint: listeners.arm.url,
    httpEndpoint: options.plainHttp === true ? listeners.plain.url : null,
    controlUrl: listeners.control.url,
    metadataUrl: listeners.metadata.url,
    caFile: authority.caFile,
    caPem: authority.caPem,
    cloudConfig,
    cloudConfigFile: directory.write("azure.json", cloudConfig),
    account,
    subscriptionId: account.subscriptionId,
    resourceGroup: account.resourceGroup,
    env: guestEnvironment(account, reach),
    nodes: topologyNodes(account, parts.topology),
    async close() {
      parts.closing.abort();
      parts.events.close();
      await Promise.all(Object.values(listeners).map((listener) => listener.close()));
      await parts.dataPlane?.close();
      parts.pipeline.store.close();
      directory.dispose();
    },
  };
  parts.about = () => ({ ...running, caPem: undefined });
  return running;
}
