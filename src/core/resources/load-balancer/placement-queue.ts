/**
 * The order in which Services that are yet to be placed take room: oldest first, each counting those before it, so that many
 * at once are placed as if they came one by one. What room is, and who gets which, is the caller's to say
 * (`place-on-several.ts`, `place-in-fleet.ts`).
 */
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { parseService } from "../../intent/parse-service.ts";
import type { ServiceIntent } from "../../intent/service-intent.ts";
import type { LoadBalancer } from "../../model/arm.ts";
import { ageOf, type Service } from "../../model/kubernetes.ts";
import { isInternalName } from "../../model/names.ts";
import { memo, memoAll } from "../../util/memo.ts";
import { loadBalancersWith } from "./load-balancer-index.ts";

export type Scope = ServiceIntent["scope"];

interface Unplaced {
  readonly service: Service;
  readonly intent: ServiceIntent;
}

interface Waiting extends Unplaced {
  readonly uid: string;
  readonly age: string;
  /** All that its placement depends on, as a text. */
  readonly asked: string;
}

interface Queued<Room> {
  readonly waiting: Waiting;
  /** What is taken once it is placed. */
  readonly after: Room;
}

export interface Placing<Room> {
  readonly config: ClusterConfig;
  readonly loadBalancers: readonly LoadBalancer[];
  /** What is taken in Azure. */
  readonly taken: (scope: Scope) => Room;
  /** With one more Service. */
  readonly withOne: (room: Room, unplaced: Unplaced) => Room;
}

/**
 * The Services that have nothing on a load balancer of their kind yet, for one state of Azure. The list of Services is another
 * with every status that is written, and mostly means the same: where it begins as the last one that was asked about did, so do
 * the answers.
 */
export class PlacementQueue<Room> {
  readonly #placing: Placing<Room>;
  /** By the kind of load balancer, oldest first: as for the last list. */
  readonly #last: Record<Scope, readonly Queued<Room>[]> = { external: [], internal: [] };
  readonly #queueOf = memo((services: readonly Service[]) => this.#queue(services));

  constructor(placing: Placing<Room>) {
    this.#placing = placing;
  }

  /** What is taken by the Services before this one; `undefined`: there are none. A Service that is not there yet is first. */
  takenBefore(
    services: readonly Service[],
    service: Service | undefined,
    { scope, owner }: ServiceIntent,
  ): Room | undefined {
    const age = service === undefined ? "" : ageOf(service);
    const isBefore = ({ waiting }: Queued<Room>): boolean => waiting.age < age && waiting.uid !== owner.uid;
    return this.#queueOf(services)[scope].findLast(isBefore)?.after;
  }

  #queue(services: readonly Service[]): Readonly<Record<Scope, readonly Queued<Room>[]>> {
    const { config, loadBalancers } = this.#placing;
    const waiting = services.flatMap((service) => {
      const one = waitingOf(config, service);
      return one === undefined || isPlaced(loadBalancers, one) ? [] : [one];
    });
    waiting.sort((one, other) => (one.age < other.age ? -1 : 1));
    return { external: this.#taking("external", waiting), internal: this.#taking("internal", waiting) };
  }

  #taking(scope: Scope, all: readonly Waiting[]): readonly Queued<Room>[] {
    const { taken, withOne } = this.#placing;
    const last = this.#last[scope];
    const waiting = all.filter(({ intent }) => intent.scope === scope);
    const differs = waiting.findIndex((one, at) => last[at]?.waiting.asked !== one.asked);
    const same = differs === -1 ? waiting.length : differs;
    const queue = waiting.slice(0, same).map((one, at) => ({ ...last[at]!, waiting: one }));
    let room = queue.at(-1)?.after ?? taken(scope);
    for (const one of waiting.slice(same)) {
      room = withOne(room, one);
      queue.push({ waiting: one, after: room });
    }
    this.#last[scope] = queue;
    return queue;
  }
}

/** `undefined`: it is to go, or refused. */
const waitingOf = memoAll((config: ClusterConfig, service: Service): Waiting | undefined => {
  if (service.metadata.deletionTimestamp !== undefined) return undefined;
  const parsed = parseService(service, config);
  if (!("intent" in parsed)) return undefined;
  const { intent } = parsed;
  const age = ageOf(service);
  const asked = JSON.stringify([age, intent, service.metadata.labels]);
  return { service, intent, uid: service.metadata.uid, age, asked };
});

function isPlaced(loadBalancers: readonly LoadBalancer[], { intent }: Unplaced): boolean {
  return loadBalancersWith(loadBalancers, intent.owner.base).some(({ name }) => isOfKind(name, intent.scope));
}

export function isOfKind(name: string, scope: Scope): boolean {
  return isInternalName(name) === (scope === "internal");
}
