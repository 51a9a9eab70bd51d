/** The control endpoint's routes of Scheduled Events: announce, list, cancel. */
import { BadInput, choiceOf, countOf, fieldsOf, listOf, onlyKeys, parseJson } from "../../shared/input.ts";
import type { Machine } from "../metadata/machines.ts";
import { EVENT_TYPES, type EventType, type ScheduledEvents } from "../metadata/scheduled-events.ts";
import { jsonReply, type HttpReply, type HttpRequest } from "../server/http-message.ts";

export interface ScheduledEventsControlled {
  readonly events: ScheduledEvents;
  /** By lower-case name. */
  readonly machines: () => ReadonlyMap<string, Machine>;
}

type Route = (controlled: ScheduledEventsControlled, request: HttpRequest, id: string | undefined) => HttpReply;

/** What Azure gives at least. */
const NOTICE_SECONDS: Readonly<Record<EventType, number>> = {
  Freeze: 900,
  Reboot: 900,
  Redeploy: 600,
  Preempt: 30,
  Terminate: 300,
};
const DURATION_SECONDS = 5;

export const SCHEDULED_EVENT_ROUTES: Readonly<Record<string, Route>> = {
  "GET /scheduled-events": ({ events }) => jsonReply(200, { events: events.list() }),
  "POST /scheduled-events": (controlled, { text }) => jsonReply(201, announce(controlled, parseJson(text, "event"))),
  "DELETE /scheduled-events/{id}": ({ events }, _request, id = "") => jsonReply(200, { cancelled: events.cancel(id) }),
};

function announce({ events, machines }: ScheduledEventsControlled, value: unknown): unknown {
  const fields = fieldsOf(value, "event");
  onlyKeys(fields, ["type", "machines", "noticeSeconds", "durationSeconds", "lateSeconds"], "event");
  const type = choiceOf(fields["type"], EVENT_TYPES, "event.type");
  const named = listOf(fields["machines"], "event.machines").map((name) => machineOf(machines(), String(name)));
  const [first] = named;
  if (first === undefined) throw new BadInput("event.machines must name at least one machine");
  if (named.some(({ set }) => set !== first.set))
    throw new BadInput("event.machines must be of one scale set or availability set: others do not share events");
  return events.announce({
    type,
    machines: named,
    noticeMs: 1000 * countOf(fields, "noticeSeconds", "event", 0, NOTICE_SECONDS[type]),
    durationMs: 1000 * countOf(fields, "durationSeconds", "event", 0, DURATION_SECONDS),
    lateMs: 1000 * countOf(fields, "lateSeconds", "event", 0, 0),
  });
}

function machineOf(machines: ReadonlyMap<string, Machine>, name: string): Machine {
  const machine = machines.get(name.toLowerCase());
  if (machine === undefined) throw new BadInput(`event.machines: there is no machine ${JSON.stringify(name)}`);
  return machine;
}
