/**
 * Starts an emulated Azure on loopback: the composition root of `sandbox/azure`, for tests, `azlb azure` and
 * `azlb sandbox`. Only this file reads the clock and randomness; it passes them to the other parts.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

import { BadInput } from "../shared/input.ts";
import { openCertificateAuthority, type CertificateAuthority } from "../shared/certificate-authority.ts";
import { auditLog } from "./control/audit.ts";
import { controlAnswer } from "./control/control-endpoint.ts";
import { faultRegistry } from "./control/faults.ts";
import { roleFor, type Settings } from "./control/settings.ts";
import { openDataPlane, type DataPlane } from "./data-plane/data-plane.ts";
import { SANDBOX_ACCOUNT, type Account } from "./identity/account.ts";
import { signInAnswer } from "./identity/sign-in.ts";
import { acceptsAudience, tokenAuthority } from "./identity/tokens.ts";
import { latencyDraws } from "./latency/latency.ts";
import type { OptionOverrides } from "./model/index.ts";
import { cloudConfigOf, guestEnvironment, type CloudConfig } from "./seed/cloud-config.ts";
import { seedOnce } from "./seed/first-start.ts";
import { parseSeed, applySeed, type Seed } from "./seed/seed.ts";
import { topologyNodes, type SeedNode, type Topology } from "./seed/topology.ts";
import { portAllocator } from "../shared/port-allocator.ts";
import { listen, type Listening } from "./server/listener.ts";
import { armAnswer, type PipelineOptions } from "./server/pipeline.ts";
import { createThrottle } from "./server/throttle.ts";
import { openAzureStore, type AzureStore } from "./store/azure-store.ts";
import { openDataDirectory, type DataDirectory } from "../shared/data-directory.ts";

export { BadInput } from "../shared/input.ts";
export type { FlowEntry } from "./data-plane/flow-table.ts";
export type { FrontendView, MemberView } from "./data-plane/render.ts";
export { parseLatency, parseLimits } from "./control/settings.ts";
export { SANDBOX_ACCOUNT, type Account } from "./identity/account.ts";
export { AZURE_LIMITS, type Limits, type OptionOverrides } from "./model/index.ts";
export type { CloudConfig } from "./seed/cloud-config.ts";
export { parseSeed, type Seed } from "./seed/seed.ts";
export {
  BACKEND_POOL_TYPES,
  DEFAULT_TOPOLOGY,
  SKUS,
  VM_TYPES,
  type BackendPoolType,
  type SeedNode,
  type Sku,
  type Topology,
  type VmType,
} from "./seed/topology.ts";

export interface AzureOptions {
  /** HTTPS port of Resource Manager; absent or 0: the port of the last start in the data directory, else a free one. */
  readonly port?: number;
  readonly httpPort?: number;
  readonly controlPort?: number;
  /** Directory of state, certificates and ports. Absent: state in memory, the rest in a temporary directory. */
  readonly dataDir?: string;
  readonly topology?: Partial<Topology>;
  readonly seed?: Seed;
  /** 0: none; 1: realistic; or a factor of it. */
  readonly latency?: number;
  readonly latencySeed?: number;
  readonly throttling?: boolean;
  /** Resource Manager over plain HTTP too. */
  readonly plainHttp?: boolean;
  /** Limits and switches of the model. */
  readonly model?: OptionOverrides;
  readonly account?: Partial<Account>;
  readonly maxBodyBytes?: number;
  readonly tokenLifetimeSeconds?: number;
  /** Starts the data plane, which forwards real connections on loopback. */
  readonly dataPlane?: boolean;
  readonly log?: (line: string) => void;
}

export interface RunningAzure {
  readonly armEndpoint: string;
  /** Resource Manager over plain HTTP; `null` unless enabled. */
  readonly httpEndpoint: string | null;
  readonly controlUrl: string;
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

/** Azure's own: 4 MB. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** A seed may be large. */
const MAX_CONTROL_BODY_BYTES = 256 * 1024 * 1024;
const TOKEN_LIFETIME_SECONDS = 86_400;
const TOKEN_KEY_FILE = "token-key.json";

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
  parts.urls.audiences.push(listeners.arm.url, listeners.plain.url);
  const cloudConfig = cloudConfigOf(account, parts.topology, reach);
  const running: RunningAzure = {
    armEndpoint: listeners.arm.url,
    httpEndpoint: options.plainHttp === true ? listeners.plain.url : null,
    controlUrl: listeners.control.url,
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
      await Promise.all(Object.values(listeners).map((listener) => listener.close()));
      await parts.dataPlane?.close();
      parts.pipeline.store.close();
      directory.dispose();
    },
  };
  parts.about = () => ({ ...running, caPem: undefined });
  return running;
}

type ListenerName = "arm" | "plain" | "control";

interface Parts {
  readonly account: Account;
  readonly pipeline: PipelineOptions;
  readonly settings: Settings;
  readonly topology: Topology;
  readonly dataPlane: DataPlane | undefined;
  readonly closing: AbortController;
  /** Known once the listeners are open. */
  readonly urls: { authority: string; readonly audiences: string[] };
  about: () => unknown;
  readonly seed: (text: string) => number;
}

function assemble(options: AzureOptions, directory: DataDirectory): Parts {
  const account: Account = { ...SANDBOX_ACCOUNT, ...options.account };
  const nowMs = (): number => Date.now();
  const guid = (): string => randomUUID();
  const closing = new AbortController();
  const urls = { authority: "", audiences: [] as string[] };
  const settings: Settings = { latencyFactor: options.latency ?? 0, roles: {} };
  const store = openAzureStore({
    directory: directory.state,
    options: { subscriptions: [account.subscriptionId], ...options.model },
    nowMs,
  });
  const seedContext = { store, nowMs, guid };
  const { seed, topology: wanted = {}, log = () => {} } = options;
  const topology = seedOnce({ account, wanted, seed, directory, context: seedContext, log });
  const dataPlane = options.dataPlane === true ? startDataPlane(store, log) : undefined;
  mapMembers(dataPlane, seed);
  const tokens = tokenAuthority({
    account,
    key: tokenKey(directory),
    lifetimeSeconds: options.tokenLifetimeSeconds ?? TOKEN_LIFETIME_SECONDS,
    nowMs,
    accepts: (audience) => acceptsAudience(audience, urls.audiences),
  });
  const pipeline: PipelineOptions = {
    account,
    tokens,
    roleOf: ({ clientId }) => roleFor(settings, clientId),
    throttle: createThrottle(nowMs, options.throttling ?? false),
    faults: faultRegistry(),
    audit: auditLog(),
    latency: latencyDraws(() => settings.latencyFactor, options.latencySeed ?? 1),
    store,
    probed: dataPlane?.probed,
    open: signInAnswer(account, tokens, () => urls.authority),
    authorityUrl: () => urls.authority,
    allowsPlainHttp: options.plainHttp ?? false,
    nowMs,
    guid,
    sleep: (ms) => sleep(ms, closing.signal),
  };
  return {
    account,
    pipeline,
    settings,
    topology,
    dataPlane,
    closing,
    urls,
    about: () => ({}),
    seed: (text) => {
      const parsed = parseSeed(text, account);
      mapMembers(dataPlane, parsed);
      return applySeed(parsed.resources, seedContext);
    },
  };
}

async function openListeners(
  options: AzureOptions,
  directory: DataDirectory,
  authority: CertificateAuthority,
  parts: Parts,
): Promise<Record<ListenerName, Listening>> {
  const log = options.log ?? (() => {});
  const common = {
    maxBodyBytes: options.maxBodyBytes ?? MAX_BODY_BYTES,
    onError: (error: unknown) => log(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  };
  const certificate = await authority.issueServer();
  const answer = armAnswer(parts.pipeline);
  const control = controlAnswer({
    ...parts.pipeline,
    settings: parts.settings,
    dataPlane: parts.dataPlane,
    seed: parts.seed,
    about: () => parts.about(),
  });
  const ports = portAllocator(directory);
  const opened: Listening[] = [];
  const open = async (name: ListenerName, asked: number | undefined, serve: (port: number) => Promise<Listening>) => {
    const listening = await ports.listen(name, asked, serve);
    opened.push(listening);
    return listening;
  };
  try {
    return {
      arm: await open("arm", options.port, (port) => listen(answer, { ...common, port, certificate })),
      plain: await open("plain", options.httpPort, (port) => listen(answer, { ...common, port })),
      control: await open("control", options.controlPort, (port) =>
        listen(control, { ...common, port, maxBodyBytes: MAX_CONTROL_BODY_BYTES }),
      ),
    };
  } catch (error) {
    await Promise.all(opened.map((listening) => listening.close()));
    throw error;
  }
}

function startDataPlane(store: AzureStore, log: (line: string) => void): DataPlane {
  const setTimer = (afterMs: number, callback: () => void) => {
    const timeout = setTimeout(callback, afterMs);
    return { cancel: () => clearTimeout(timeout) };
  };
  return openDataPlane({ store, clock: { nowMs: () => Date.now(), setTimer }, log });
}

function mapMembers(dataPlane: DataPlane | undefined, seed: Seed | undefined): void {
  if (seed === undefined || Object.keys(seed.members).length === 0) return;
  if (dataPlane === undefined) throw new BadInput("seed.members needs the data plane; start with --data-plane");
  dataPlane.mapMembers(seed.members);
}

/** The stored signing key, so that tokens survive a restart. */
function tokenKey(directory: DataDirectory): Buffer {
  const known = directory.read(TOKEN_KEY_FILE);
  if (typeof known === "string") return Buffer.from(known, "hex");
  const key = randomBytes(32);
  directory.write(TOKEN_KEY_FILE, key.toString("hex"));
  return key;
}

async function sleep(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
