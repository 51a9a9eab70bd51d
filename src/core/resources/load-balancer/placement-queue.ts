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
import { loadBalancersWith } from "./load-balancer-index.ts";

export type Scope = ServiceIntent["scope"];

/** By the kind of load balancer, oldest first. */
export type PlacementQueue<Room> = Readonly<Record<Scope, readonly Queued<Room>[]>>;

interface Queued<Room> {
  readonly uid: string;
  readonly age: string;
  /** What is taken once it is placed. */
  readonly after: Room;
}

interface Unplaced {
  readonly service: Service;
  readonly intent: ServiceIntent;
}

export interface Placing<Room> {
  readonly config: ClusterConfig;
  readonly services: readonly Service[];
  readonly loadBalancers: readonly LoadBalancer[];
  /** What is taken in Azure. */
  readonly taken: (scope: Scope) => Room;
  /** With one more Service. */
  readonly withOne: (room: Room, unplaced: Unplaced) => Room;
}

/** The Services that have nothing on a load balancer of their kind yet. */
export function placementQueue<Room>(placing: Placing<Room>): PlacementQueue<Room> {
  const { config, services, loadBalancers, taken, withOne } = placing;
  const waiting = services.flatMap((service) => {
    if (service.metadata.deletionTimestamp !== undefined) return [];
    const parsed = parseService(service, config);
    if (!("intent" in parsed)) return [];
    const { intent } = parsed;
    const isPlaced = loadBalancersWith(loadBalancers, intent.owner.base).some(({ name }) =>
      isOfKind(name, intent.scope),
    );
    return isPlaced ? [] : [{ service, intent, age: ageOf(service) }];
  });
  waiting.sort((one, other) => (one.age < other.age ? -1 : 1));
  const queueOf = (scope: Scope): Queued<Room>[] => {
    let room = taken(scope);
    return waiting
      .filter(({ intent }) => intent.scope === scope)
      .map(({ service, intent, age }) => {
        room = withOne(room, { service, intent });
        return { uid: service.metadata.uid, age, after: room };
      });
  };
  return { external: queueOf("external"), internal: queueOf("internal") };
}

/** What is taken by the Services before this one; `undefined`: there are none. A Service that is not there yet is first. */
export function takenBefore<Room>(
  queue: PlacementQueue<Room>,
  service: Service | undefined,
  { scope, owner }: ServiceIntent,
): Room | undefined {
  const age = service === undefined ? "" : ageOf(service);
  return queue[scope].filter((one) => one.age < age && one.uid !== owner.uid).at(-1)?.after;
}

export function isOfKind(name: string, scope: Scope): boolean {
  return isInternalName(name) === (scope === "internal");
}
