/**
 * Where a controller can be killed so that it matters: just before and just after each of its writes. Between two
 * writes nothing lasting happens, so a kill at a read is the same as one just before the next write.
 *
 * Writes are counted per lane, since requests to different servers have no order of their own. To stop at the n-th
 * write of a lane everything from it on is cut off: before it is carried out, or just after.
 */
import { eventually } from "../support/eventually.ts";
import type { FaultControl } from "../support/fault-control.ts";
import type { CrashBed } from "./crash-bed.ts";

export interface Lane {
  readonly name: string;
  readonly server: "azure" | "kubernetes";
  readonly path: string;
}

/** Events are left out: they are only for people, and sent with no promise. */
const LANES: readonly Lane[] = [
  { name: "Azure", server: "azure", path: "/subscriptions/**" },
  { name: "Services", server: "kubernetes", path: "/api/v1/namespaces/*/services**" },
  { name: "member lists", server: "kubernetes", path: "/api/v1/namespaces/*/configmaps**" },
  { name: "Nodes", server: "kubernetes", path: "/api/v1/nodes**" },
  { name: "Pods", server: "kubernetes", path: "/api/v1/namespaces/*/pods**" },
  { name: "LBCF", server: "kubernetes", path: "/apis/lbcf.tkestack.io/**" },
  { name: "the lock", server: "kubernetes", path: "/apis/coordination.k8s.io/**" },
];

export interface CrashPoint {
  readonly lane: Lane;
  /** 1: its first write. */
  readonly write: number;
  readonly when: "before" | "after";
}

export function renderPoint({ lane, write, when }: CrashPoint): string {
  return `${when} write ${write} to ${lane.name}`;
}

/** Both sides of every write. */
export function pointsOf(writes: ReadonlyMap<Lane, number>): CrashPoint[] {
  return [...writes].flatMap(([lane, count]) =>
    Array.from({ length: count }, (_, at) => at + 1).flatMap((write) => [
      { lane, write, when: "before" as const },
      { lane, write, when: "after" as const },
    ]),
  );
}

const WRITES = ["PUT", "PATCH", "POST", "DELETE"];

function controlOf(bed: CrashBed, { server }: Lane): FaultControl {
  return server === "azure" ? bed.azureFaults : bed.kubeFaults;
}

/** Counts from now on; the answer asks for the counts so far. */
export async function countWrites(bed: CrashBed): Promise<() => Promise<Map<Lane, number>>> {
  const harmless = { kind: "delay", delayMs: 0 };
  const counting = new Map<Lane, string>();
  for (const lane of LANES) {
    const fault = { method: WRITES, path: lane.path, count: null, effect: harmless };
    counting.set(lane, await controlOf(bed, lane).arm(fault));
  }
  return async () => {
    const counts = new Map<Lane, number>();
    for (const [lane, id] of counting) counts.set(lane, await controlOf(bed, lane).hits(id));
    return counts;
  };
}

/** Arms the point; the answer resolves once a request has reached it. */
export async function armPoint(bed: CrashBed, { lane, write, when }: CrashPoint): Promise<Reached> {
  const control = controlOf(bed, lane);
  const fault = { method: WRITES, path: lane.path };
  const last = when === "after" ? await control.arm({ ...fault, skip: write - 1, effect: { kind: "cutAfter" } }) : "";
  const passed = when === "after" ? write : write - 1;
  const stop = await control.arm({ ...fault, skip: passed, count: null, effect: { kind: "cutBefore" } });
  const id = when === "after" ? last : stop;
  return (withinMs) =>
    eventually(async () => {
      if ((await control.hits(id)) === 0) throw new Error("the crash point was not reached");
    }, withinMs);
}

export type Reached = (withinMs: number) => Promise<void>;

export async function disarm(bed: CrashBed): Promise<void> {
  await Promise.all([bed.azureFaults.clear(), bed.kubeFaults.clear()]);
}
