/**
 * Scheduled Events: what Azure announces about machines, until it is over. An event is announced with a notice, starts when
 * that has passed or when it is approved, and is carried out then; the caller does that and provides the clock.
 *
 *   announced ──► Scheduled ──► Started ──► over
 *                     └─ cancelled ─────────►
 *
 * Events live in memory: they do not survive a restart of the emulator.
 */
import type { Clock, Timer } from "../data-plane/clock.ts";
import type { Machine } from "./machines.ts";

export const EVENT_TYPES = ["Freeze", "Reboot", "Redeploy", "Preempt", "Terminate"] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** As the metadata service shows it. */
interface ScheduledEvent {
  readonly EventId: string;
  readonly EventType: EventType;
  readonly ResourceType: "VirtualMachine";
  readonly Resources: readonly string[];
  readonly EventStatus: "Scheduled" | "Started";
  /** Empty once it has started. */
  readonly NotBefore: string;
  readonly Description: string;
  readonly EventSource: "Platform" | "User";
  /** -1: not known, or for good. */
  readonly DurationInSeconds: number;
}

interface WantedEvent {
  readonly type: EventType;
  /** At least one, all of one set. */
  readonly machines: readonly Machine[];
  readonly noticeMs: number;
  /** How long a freeze, reboot or redeployment takes. */
  readonly durationMs: number;
  /** How long after the notice it starts by itself; absent: at once. */
  readonly lateMs?: number;
}

/** What Azure does to machines. Preempted and terminated ones go; others stand still for a while. */
export interface Impact {
  readonly begin: (type: EventType, machines: readonly Machine[]) => void;
  readonly end: (machines: readonly Machine[]) => void;
}

export interface ScheduledEvents {
  announce(wanted: WantedEvent): ScheduledEvent;
  /** `false`: there is no such event, or it has started. */
  cancel(id: string): boolean;
  /** Starts it now. `false`: the machine sees no such event. An event that has started stays as it is. */
  approve(id: string, machine: Machine): boolean;
  /** The events of the machine's set. */
  document(machine: Machine): { readonly DocumentIncarnation: number; readonly Events: readonly ScheduledEvent[] };
  list(): readonly ScheduledEvent[];
  close(): void;
}

export interface ScheduledEventsOptions {
  readonly clock: Clock;
  readonly guid: () => string;
  readonly impact: Impact;
}

interface Entry {
  event: ScheduledEvent;
  readonly wanted: WantedEvent;
  readonly set: string;
  timer: Timer | undefined;
}

const DESCRIPTIONS: Readonly<Record<EventType, string>> = {
  Freeze: "Virtual machine is being paused because of a memory-preserving Live Migration operation.",
  Reboot: "Virtual machine is going to be restarted as requested by the host.",
  Redeploy: "Virtual machine is going to be redeployed because of hardware trouble.",
  Preempt: "Virtual machine is being evicted: Azure needs its capacity.",
  Terminate: "Virtual machine is going to be deleted: the scale set is scaled in.",
};

/** Of a machine for good. */
export function isFinal(type: EventType): boolean {
  return type === "Preempt" || type === "Terminate";
}

export function scheduledEvents({ clock, guid, impact }: ScheduledEventsOptions): ScheduledEvents {
  const entries = new Map<string, Entry>();
  /** By set. */
  const incarnations = new Map<string, number>();

  function changed(set: string): void {
    incarnations.set(set, (incarnations.get(set) ?? 1) + 1);
  }

  function start(entry: Entry): void {
    const { wanted, set } = entry;
    entry.timer?.cancel();
    entry.event = { ...entry.event, EventStatus: "Started", NotBefore: "" };
    changed(set);
    impact.begin(wanted.type, wanted.machines);
    entry.timer = clock.setTimer(isFinal(wanted.type) ? 0 : wanted.durationMs, () => over(entry));
  }

  function over(entry: Entry): void {
    remove(entry);
    if (!isFinal(entry.wanted.type)) impact.end(entry.wanted.machines);
  }

  function remove(entry: Entry): void {
    entry.timer?.cancel();
    entries.delete(entry.event.EventId);
    changed(entry.set);
  }

  return {
    announce(wanted) {
      const { type, machines, noticeMs, durationMs, lateMs = 0 } = wanted;
      const event: ScheduledEvent = {
        EventId: guid().toUpperCase(),
        EventType: type,
        ResourceType: "VirtualMachine",
        Resources: machines.map(({ name }) => name),
        EventStatus: "Scheduled",
        // in whole seconds, rounded down: nothing happens before what was announced
        NotBefore: new Date(clock.nowMs() + noticeMs).toUTCString(),
        Description: DESCRIPTIONS[type],
        EventSource: type === "Terminate" ? "User" : "Platform",
        DurationInSeconds: type === "Freeze" ? Math.ceil(durationMs / 1000) : -1,
      };
      const entry: Entry = { event, wanted, set: machines[0]?.set ?? "", timer: undefined };
      entry.timer = clock.setTimer(noticeMs + lateMs, () => start(entry));
      entries.set(event.EventId, entry);
      changed(entry.set);
      return event;
    },
    cancel(id) {
      const entry = entries.get(id.toUpperCase());
      if (entry?.event.EventStatus !== "Scheduled") return false;
      remove(entry);
      return true;
    },
    approve(id, { set }) {
      const entry = entries.get(id.toUpperCase());
      if (entry === undefined || entry.set !== set) return false;
      if (entry.event.EventStatus === "Scheduled") start(entry);
      return true;
    },
    document: ({ set }) => ({
      DocumentIncarnation: incarnations.get(set) ?? 1,
      Events: [...entries.values()].filter((entry) => entry.set === set).map(({ event }) => event),
    }),
    list: () => [...entries.values()].map(({ event }) => event),
    close() {
      for (const { timer } of entries.values()) timer?.cancel();
      entries.clear();
    },
  };
}
