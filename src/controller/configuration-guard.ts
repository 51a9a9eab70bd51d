/**
 * Compares the configuration with what published Services have in Azure, before anything is written. Reads, and emits
 * the warnings; what counts as a change is `core/guard`'s to say, and `controller.ts` leaves its loops unstarted.
 *
 *   a read fails                                     | what follows
 *   -------------------------------------------------|------------------------------------------------------
 *   transient, throttled, busy, no token             | it is tried again; nothing is written meanwhile
 *   denied, not found, or anything else              | it proves nothing: the controller starts, and meets it again
 */
import { ArmError } from "../azure/arm/failures.ts";
import type { Mirror } from "../azure/cache/mirror.ts";
import type { ClusterConfig } from "../core/config/cluster-config.ts";
import { eventText } from "../core/events/event-reasons.ts";
import {
  acceptedServices,
  configurationChanges,
  type Change,
  type ConfigurationChange,
} from "../core/guard/configuration-changes.ts";
import { publicIPGroups, publishedServices, type PublishedCluster } from "../core/guard/published-services.ts";
import type { ClassFilter } from "../core/intent/ownership.ts";
import type { PublicIP } from "../core/model/arm.ts";
import { serviceKey } from "../core/model/kubernetes.ts";
import { BACKOFF, RETRY } from "../core/retry.ts";
import type { Clock } from "../core/util/clock.ts";
import type { Log } from "../core/util/log.ts";
import { errorText } from "../core/util/text.ts";
import { SERVICES } from "../kube/client/resources.ts";
import type { ClusterCache } from "./cluster-cache.ts";
import type { Events } from "./events.ts";

export interface ConfigurationSource {
  readonly config: ClusterConfig;
  readonly classFilter: ClassFilter;
  readonly cache: ClusterCache;
  readonly mirror: Mirror;
  /** The one change that the user lets through. */
  readonly acceptedChange?: Change | undefined;
}

export interface ObservedChanges {
  /** Empty: the controller may start. */
  readonly refused: readonly ConfigurationChange[];
  /** Keys of the Services that the accepted change concerns. */
  readonly accepted: ReadonlySet<string>;
}

const NO_CHANGES: ObservedChanges = { refused: [], accepted: new Set() };

/** Call once the caches are filled. */
export async function observeChanges(
  { config, classFilter, cache, mirror, acceptedChange }: ConfigurationSource,
  signal: AbortSignal,
): Promise<ObservedChanges> {
  const services = [...cache.services.store.values()];
  if (publishedServices({ services, classFilter }).length === 0) return NO_CHANGES;
  try {
    const cluster = { services, classFilter, loadBalancers: await mirror.loadBalancers(signal) };
    const groups = publicIPGroups(cluster).union(new Set([config.resourceGroup.toLowerCase()]));
    const published = {
      ...cluster,
      publicIPs: await readPublicIPs(mirror, groups, signal),
      listedLoadBalancers: [...cache.memberLists.store.values()].map(({ loadBalancerId }) => loadBalancerId),
    };
    return {
      refused: configurationChanges(published, config, acceptedChange),
      accepted: new Set(acceptedServices(published, config, acceptedChange)),
    };
  } catch (error) {
    if (isPassing(error) || signal.aborted) throw error;
    return NO_CHANGES;
  }
}

async function readPublicIPs(
  mirror: Mirror,
  groups: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<PublishedCluster["publicIPs"]> {
  const found = new Map<string, readonly PublicIP[]>();
  for (const group of groups) {
    try {
      found.set(group, await mirror.list("publicIP", group, signal));
    } catch (error) {
      if (isPassing(error) || signal.aborted) throw error;
    }
  }
  return found;
}

/** Azure will answer some other time. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof ArmError)) return false;
  const { kind } = error.failure;
  return kind === "unauthenticated" || RETRY[kind].read !== "fail";
}

export interface ConfigurationGuardOptions extends ConfigurationSource {
  readonly events: Events;
  readonly clock: Clock;
  readonly log: Log;
}

export class ConfigurationGuard {
  readonly #options: ConfigurationGuardOptions;
  #unready: string | undefined;
  #accepted: ReadonlySet<string> = NO_CHANGES.accepted;

  constructor(options: ConfigurationGuardOptions) {
    this.#options = options;
  }

  /** Why the controller may not start, once that is known. */
  get unready(): string | undefined {
    return this.#unready;
  }

  /** Keys of the Services that the accepted change concerns, once that is known. */
  get acceptedServices(): ReadonlySet<string> {
    return this.#accepted;
  }

  /** Whether the controller may start. Warns each Service concerned where it may not. Rejects if the signal is aborted. */
  async passes(signal: AbortSignal): Promise<boolean> {
    const { refused: changes, accepted } = await this.#changes(signal);
    this.#accepted = accepted;
    this.#unready = changes.length === 0 ? undefined : changes.map(({ message }) => message).join("\n");
    for (const change of changes) this.#tell(change);
    return changes.length === 0;
  }

  async #changes(signal: AbortSignal): Promise<ObservedChanges> {
    const { clock, log } = this.#options;
    for (let failures = 0; ; failures++) {
      try {
        return await observeChanges(this.#options, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        this.#unready = `the configuration could not be compared with Azure yet: ${errorText(error)}`;
        log.warn(this.#unready);
      }
      const { firstMs, capMs } = BACKOFF.failure;
      await clock.sleep(Math.min(capMs, firstMs * 2 ** failures), signal);
    }
  }

  #tell({ message, services }: ConfigurationChange): void {
    const { events, log, cache } = this.#options;
    log.error(`ConfigurationChanged: ${message}`);
    const concerned = new Set(services);
    for (const service of cache.services.store.values()) {
      if (!concerned.has(serviceKey(service))) continue;
      events.emit(SERVICES, service, eventText("ConfigurationChanged", message), "none");
    }
  }
}
