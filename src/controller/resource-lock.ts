/**
 * The lock that cloud-provider-azure ("the incumbent") and its platform take around their writes to a cluster's load
 * balancers: a Lease, held by name. The controller takes it under its own name, so that no client writes in the middle of
 * another's change; once for all writes of a burst instead of once per Service.
 *
 * An annotation names the previous holder. Where that is another client, what the controller last saw of Azure is out of
 * date; where it is the incumbent although the controller has held the lock before, two service controllers run at once,
 * which every Service's events say.
 */
import type { Clock, Timer } from "../core/util/clock.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import { LEASES } from "../kube/client/resources.ts";
import { microTime, type Lease } from "../kube/election/lease.ts";

const PLACE = { namespace: "kube-system", name: "aks-managed-resource-locker" };
const HOLDER = "azlb-controller";
const INCUMBENT = "cloud-controller-manager";
const PREVIOUS_HOLDER = "aks-managed-resource-locker-previous-holder";
const DURATION_SECONDS = 900;
/** Kept a little longer after the last write than the next of a burst takes to follow. */
const LINGER_MS = 2_000;
/** Renewed in good time before other clients may take it over. */
const RENEW_AFTER_MS = (DURATION_SECONDS * 1000) / 3;
const TRY_AGAIN_MS = 1_000;
const RIVAL = `${INCUMBENT} changes this cluster's load balancers too: run it with --controllers=*,-service-lb-controller, or stop azlb`;

/** As long as the incumbent's own cycle may take, and some. */
const RIVAL_LASTS_MS = 600_000;

export interface ResourceLockOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Ends the waiting for it. */
  readonly signal: AbortSignal;
  /** Another client held it since: what was last seen of Azure may be out of date. */
  readonly onOthers: (previousHolder: string) => void;
  /** The incumbent's service controller is at work besides this one. */
  readonly onRival: (message: string) => void;
  /** Another client holds it, and the controller waits. */
  readonly onWait: (message: string) => void;
  /** Are there writes in flight? It is not given back before they end. */
  readonly isInUse: () => boolean;
}

export class ResourceLock {
  readonly #options: ResourceLockOptions;
  #held: { readonly sinceMs: number } | undefined;
  #taking: Promise<void> | undefined;
  #releasing: Promise<unknown> | undefined;
  #timer: Timer | undefined;
  #hasHeld = false;
  #blocker: string | undefined;
  #rivalSeenMs = Number.NEGATIVE_INFINITY;

  constructor(options: ResourceLockOptions) {
    this.#options = options;
  }

  /** What users should know of it now. */
  get notices(): string[] {
    const hasRival = this.#options.clock.monotonicMs() - this.#rivalSeenMs < RIVAL_LASTS_MS;
    return [
      ...(this.#blocker === undefined ? [] : [`${waitText(this.#blocker)}: writes wait until it lets go`]),
      ...(hasRival ? [RIVAL] : []),
    ];
  }

  /** Resolves once the controller holds it, until the writes in flight are over. Waits while another client does. */
  async hold(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    const isFresh = this.#held !== undefined && nowMs - this.#held.sinceMs < RENEW_AFTER_MS;
    if (!isFresh) {
      this.#taking ??= this.#take().finally(() => {
        this.#taking = undefined;
      });
      await this.#taking;
    }
    this.#linger();
  }

  /**
   * Gives it back, where the controller holds it. A release that is on its way already is waited for: a process that ends
   * sends nothing after it has let the leader's lease go.
   */
  async release(): Promise<void> {
    this.#timer?.cancel();
    if (this.#held !== undefined) {
      this.#held = undefined;
      this.#releasing = this.#giveBack();
    }
    await this.#releasing;
  }

  /** Only if the controller still holds it: a process that slept past its end must not take it from the next holder. */
  async #giveBack(): Promise<void> {
    const lease = await this.#read();
    if (lease?.spec?.holderIdentity !== HOLDER) return;
    const merge = { metadata: { annotations: { [PREVIOUS_HOLDER]: HOLDER } }, spec: { holderIdentity: "" } };
    const { resourceVersion } = lease.metadata;
    await this.#options.client.patch(LEASES, PLACE, { merge }, { resourceVersion });
  }

  #linger(): void {
    const { clock, isInUse } = this.#options;
    this.#timer?.cancel();
    this.#timer = clock.setTimer(LINGER_MS, () => {
      if (this.#taking !== undefined || isInUse()) this.#linger();
      else void this.release().catch(() => {}); // it runs out by itself
    });
  }

  async #take(): Promise<void> {
    const { clock, signal } = this.#options;
    await this.#releasing?.catch(() => {}); // a release that is still on its way would undo this
    let waited = false;
    for (;;) {
      const lease = await this.#read();
      const blocker = lease === undefined ? undefined : this.#blockerOf(lease);
      if (blocker === undefined && (await this.#write(lease))) {
        this.#blocker = undefined;
        this.#notice(lease);
        this.#held = { sinceMs: clock.monotonicMs() };
        this.#hasHeld = true;
        return;
      }
      this.#blocker = blocker;
      if (blocker !== undefined && !waited) this.#options.onWait(waitText(blocker));
      waited ||= blocker !== undefined;
      await clock.sleep(TRY_AGAIN_MS, signal);
    }
  }

  async #read(): Promise<Lease | undefined> {
    try {
      return await this.#options.client.get<Lease>(LEASES, PLACE);
    } catch (error) {
      if (isFailure(error, "notFound")) return undefined;
      throw error;
    }
  }

  /** The client that holds it now, other than the controller. */
  #blockerOf({ spec = {} }: Lease): string | undefined {
    const { holderIdentity, leaseDurationSeconds, renewTime } = spec;
    if (!holderIdentity || holderIdentity === HOLDER) return undefined;
    const endsMs = Date.parse(renewTime ?? "") + (leaseDurationSeconds ?? 0) * 1000;
    return endsMs > this.#options.clock.nowMs() ? holderIdentity : undefined;
  }

  /** False where another client was faster. */
  async #write(lease: Lease | undefined): Promise<boolean> {
    const { client, clock } = this.#options;
    const now = microTime(clock.nowMs());
    const spec = {
      holderIdentity: HOLDER,
      leaseDurationSeconds: DURATION_SECONDS,
      acquireTime: now,
      renewTime: now,
    };
    try {
      if (lease === undefined) await client.create(LEASES, { metadata: PLACE, spec });
      else await client.patch(LEASES, PLACE, { merge: { spec } }, { resourceVersion: lease.metadata.resourceVersion });
      return true;
    } catch (error) {
      if (isFailure(error, "conflict", "alreadyExists")) return false;
      throw error;
    }
  }

  #notice(lease: Lease | undefined): void {
    const previous = lease?.metadata.annotations?.[PREVIOUS_HOLDER];
    if (previous === undefined || previous === HOLDER) return;
    this.#options.onOthers(previous);
    if (previous !== INCUMBENT || !this.#hasHeld) return;
    this.#rivalSeenMs = this.#options.clock.monotonicMs();
    this.#options.onRival(RIVAL);
  }
}

function waitText(blocker: string): string {
  return `${blocker} holds the lock on the load balancers`;
}
