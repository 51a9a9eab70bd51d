/**
 * Looks for an operator's release while something is withheld: a ConfigMap in kube-system, which no tenant may write. It
 * holds the writes that the operator was shown, and their hash. It is deleted before it is used, so that it counts once:
 * after a crash in between the operator releases again.
 */
import { RELEASE_MS } from "../../core/brake/brake-limits.ts";
import { decodeWrites } from "../../core/brake/release-text.ts";
import { hashOf } from "../../core/brake/withheld-writes.ts";
import type { Clock, Timer } from "../../core/util/clock.ts";
import type { Log } from "../../core/util/log.ts";
import { errorText, pluralize } from "../../core/util/text.ts";
import type { KubeClient } from "../../kube/client/kube-client.ts";
import { isFailure } from "../../kube/client/kube-failure.ts";
import { CONFIG_MAPS, type KubeObject } from "../../kube/client/resources.ts";

export const RELEASE_PLACE = { namespace: "kube-system", name: "azlb-brake-release" } as const;

interface BrakeRelease extends KubeObject {
  readonly data?: { readonly hash?: string; readonly writes?: string };
}

export interface ReleaseWatchOptions {
  readonly client: Pick<KubeClient, "get" | "delete">;
  readonly clock: Clock;
  readonly log: Log;
  readonly isEngaged: () => boolean;
  readonly onReleased: (writes: readonly string[], forMs: number) => void;
}

const PERIOD_MS = 2_000;

export class ReleaseWatch {
  readonly #options: ReleaseWatchOptions;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: ReleaseWatchOptions) {
    this.#options = options;
  }

  /** Something is withheld. */
  engage(): void {
    if (this.#timer !== undefined || this.#isStopped) return;
    this.#timer = this.#options.clock.setTimer(PERIOD_MS, () => void this.#look());
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  async #look(): Promise<void> {
    try {
      await this.#take();
    } catch (error) {
      this.#options.log.warn(`the brake's release could not be read: ${errorText(error)}`);
    }
    this.#timer = undefined;
    if (this.#options.isEngaged()) this.engage();
  }

  async #take(): Promise<void> {
    const { client, clock, log, onReleased } = this.#options;
    const release = await client.get<BrakeRelease>(CONFIG_MAPS, RELEASE_PLACE).catch((error: unknown) => {
      if (isFailure(error, "notFound")) return undefined;
      throw error;
    });
    if (release === undefined || this.#isStopped) return;
    await client.delete(CONFIG_MAPS, RELEASE_PLACE, { uid: release.metadata.uid });
    const { hash = "", writes = "" } = release.data ?? {};
    const lines = decodeWrites(writes);
    const leftMs = Date.parse(release.metadata.creationTimestamp ?? "") + RELEASE_MS - clock.nowMs();
    const problem =
      hashOf(lines) !== hash ? "its hash is not that of its writes" : !(leftMs > 0) ? "it is too old" : "";
    if (problem !== "") return log.warn(`ConfigMap ${RELEASE_PLACE.name} releases nothing: ${problem}`);
    log.warn(`the brake is released: ${pluralize(lines.length, "write")}, hash ${hash}`);
    onReleased(lines, Math.min(leftMs, RELEASE_MS));
  }
}
