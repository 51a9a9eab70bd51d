/**
 * A shadow beside a stand-in of the incumbent, which a test tells when to look. Its time passes as the test says, so that
 * nothing waits for Azure to be still.
 */
import assert from "node:assert/strict";

import { MEMBER_LIST_LABEL } from "../../src/controller/pools/member-list.ts";
import type { Shadow } from "../../src/controller/shadow/shadow.ts";
import type { ScoredChange } from "../../src/core/shadow/shadow-report.ts";
import { SILENT_LOG } from "../../src/core/util/log.ts";
import {
  CONFIG_MAPS,
  ENDPOINT_SLICES,
  keyOf,
  NAMESPACES,
  NODES,
  SERVICES,
  type KubeObject,
  type Resource,
} from "../../src/kube/client/resources.ts";
import type { ReadonlyStore } from "../../src/kube/cache/store.ts";
import { realClock } from "../../src/main/real-clock.ts";
import { openShadow, type OpenShadow } from "../../src/main/shadow.ts";
import { eventually } from "./eventually.ts";
import { type ServiceRig, WITHIN_MS } from "./service-rig.ts";

const SETTLE_MS = 3_600_000;
/** More than the shadow ever waits for. */
const PATIENCE_MS = 6 * SETTLE_MS;

export class ShadowRig {
  readonly #rig: ServiceRig;
  readonly #open: OpenShadow;
  readonly #time: { passedMs: number };
  readonly #signal = new AbortController().signal;

  private constructor(rig: ServiceRig, open: OpenShadow, time: { passedMs: number }) {
    this.#rig = rig;
    this.#open = open;
    this.#time = time;
  }

  /** Has looked once. */
  static async open(rig: ServiceRig): Promise<ShadowRig> {
    const time = { passedMs: 0 };
    const clock = { ...realClock, monotonicMs: () => realClock.monotonicMs() + time.passedMs };
    const open = await openShadow({ ...rig.viewOptions, log: SILENT_LOG, settleMs: SETTLE_MS, clock });
    const shadow = new ShadowRig(rig, open, time);
    await shadow.look();
    return shadow;
  }

  get shadow(): Shadow {
    return this.#open.shadow;
  }

  /** As soon as its caches have all that is in the cluster. */
  async predict(): Promise<void> {
    await this.#synced();
    await this.shadow.replan(this.#signal);
  }

  async look(): Promise<void> {
    await this.#synced();
    await this.shadow.look(this.#signal);
  }

  /** The changes that are scored once everything has been still for long. */
  async scored(): Promise<readonly ScoredChange[]> {
    const before = this.shadow.report().recent.length;
    await this.look();
    this.#time.passedMs += PATIENCE_MS;
    await this.look();
    const { recent } = this.shadow.report();
    return recent.slice(0, recent.length - before);
  }

  close(): Promise<void> {
    return this.#open.close();
  }

  async #synced(): Promise<void> {
    const { services, nodes, memberLists, endpointSlices, namespaces } = this.#open.cache;
    await this.#open.cache.synced;
    await this.#holds(CONFIG_MAPS, memberLists.store, MEMBER_LIST_LABEL);
    await this.#holds(SERVICES, services.store);
    await this.#holds(NODES, nodes.store);
    if (endpointSlices !== undefined) await this.#holds(ENDPOINT_SLICES, endpointSlices.store);
    if (namespaces !== undefined) await this.#holds(NAMESPACES, namespaces.store);
  }

  async #holds(resource: Resource, store: ReadonlyStore<KubeObject>, labelSelector?: string): Promise<void> {
    const versions = (objects: Iterable<KubeObject>): string[] =>
      [...objects].map((object) => `${keyOf(object)} ${object.metadata.resourceVersion}`).sort();
    await eventually(async () => {
      const { items } = await this.#rig.kube.list(resource, { labelSelector });
      assert.deepEqual(versions(store.values()), versions(items));
    }, WITHIN_MS);
  }
}
