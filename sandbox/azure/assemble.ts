/**
 * Builds the parts of an emulated Azure and connects them. Only this file reads the clock and randomness; it passes them
 * to the parts.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { DataDirectory } from "../shared/data-directory.ts";
import { BadInput } from "../shared/input.ts";
import { auditLog } from "./control/audit.ts";
import { faultRegistry } from "./control/faults.ts";
import { roleFor, type Settings } from "./control/settings.ts";
import type { Clock } from "./data-plane/clock.ts";
import { openDataPlane, type DataPlane } from "./data-plane/data-plane.ts";
import { SANDBOX_ACCOUNT, type Account } from "./identity/account.ts";
import { signInAnswer } from "./identity/sign-in.ts";
import { acceptsAudience, tokenAuthority } from "./identity/tokens.ts";
import { machineImpact } from "./metadata/machine-impact.ts";
import { machinesOf, type Machine } from "./metadata/machines.ts";
import { scheduledEvents, type ScheduledEvents } from "./metadata/scheduled-events.ts";
import { latencyDraws } from "./latency/latency.ts";
import type { AzureOptions } from "./options.ts";
import { seedOnce } from "./seed/first-start.ts";
import { parseSeed, applySeed, type Seed } from "./seed/seed.ts";
import type { Topology } from "./seed/topology.ts";
import type { PipelineOptions } from "./server/pipeline.ts";
import { createThrottle } from "./server/throttle.ts";
import { openAzureStore, type AzureStore } from "./store/azure-store.ts";

const CLOCK: Clock = {
  nowMs: () => Date.now(),
  setTimer(afterMs, callback) {
    const timeout = setTimeout(callback, afterMs);
    return { cancel: () => clearTimeout(timeout) };
  },
};

const TOKEN_LIFETIME_SECONDS = 86_400;
const TOKEN_KEY_FILE = "token-key.json";

export interface Parts {
  readonly account: Account;
  readonly pipeline: PipelineOptions;
  readonly settings: Settings;
  readonly topology: Topology;
  readonly dataPlane: DataPlane | undefined;
  readonly events: ScheduledEvents;
  /** By lower-case name and computer name. */
  readonly machines: () => ReadonlyMap<string, Machine>;
  readonly closing: AbortController;
  /** Known once the listeners are open. */
  readonly urls: { authority: string; control: string; readonly audiences: string[] };
  about: () => unknown;
  readonly seed: (text: string) => number;
}

export function assemble(options: AzureOptions, directory: DataDirectory): Parts {
  const account: Account = { ...SANDBOX_ACCOUNT, ...options.account };
  const nowMs = (): number => Date.now();
  const guid = (): string => randomUUID();
  const closing = new AbortController();
  const urls = { authority: "", control: "", audiences: [] as string[] };
  const settings: Settings = { latencyFactor: options.latency ?? 0, roles: {} };
  const { seed, topology: wanted = {}, log = () => {} } = options;
  const store = openAzureStore({
    directory: directory.state,
    acceptJournalLoss: options.acceptJournalLoss ?? false,
    log,
    options: { subscriptions: [account.subscriptionId], tenant: account.tenantId, ...options.model },
    nowMs,
  });
  const seedContext = { store, nowMs, guid };
  const topology = seedOnce({ account, wanted, seed, directory, context: seedContext, log });
  const dataPlane = options.dataPlane === true ? startDataPlane(store, log) : undefined;
  mapMembers(dataPlane, seed);
  const events = scheduledEvents({ clock: CLOCK, guid, impact: machineImpact({ store, dataPlane, nowMs, guid, log }) });
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
    open: signInAnswer(account, tokens, urls),
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
    events,
    machines: machinesIn(store),
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

function startDataPlane(store: AzureStore, log: (line: string) => void): DataPlane {
  return openDataPlane({ store, clock: CLOCK, log });
}

/** Made again only after a change: every agent asks each second. */
function machinesIn(store: AzureStore): () => ReadonlyMap<string, Machine> {
  let known: ReadonlyMap<string, Machine> | undefined;
  const state = store.watch(() => (known = undefined));
  return () => (known ??= machinesOf(state));
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
