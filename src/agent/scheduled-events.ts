/**
 * The Scheduled Events document of Azure's instance metadata, parsed. Pure. A document that cannot be read is refused; an
 * event in it that cannot be read is left out and counted, so that the caller knows that the rest is not all there is.
 */

export type EventType = "Freeze" | "Reboot" | "Redeploy" | "Preempt" | "Terminate";

export interface ScheduledEvent {
  readonly id: string;
  readonly type: EventType;
  readonly status: "Scheduled" | "Started";
  /** Names of the machines that it is about. */
  readonly resources: readonly string[];
  /** As Azure writes it; empty once it has started. */
  readonly notBefore: string;
  /** -1: not known, or for good. */
  readonly durationSeconds: number;
}

export interface EventDocument {
  readonly events: readonly ScheduledEvent[];
  /** Whether every event could be read. */
  readonly isComplete: boolean;
}

/** The metadata service answered with something that is no such document. */
export class InvalidDocumentError extends Error {
  override readonly name = "InvalidDocumentError";
}

const TYPES: readonly string[] = ["Freeze", "Reboot", "Redeploy", "Preempt", "Terminate"] satisfies EventType[];
/** Azure sends a few. What is beyond is not read. */
const MOST_EVENTS = 100;
const LONGEST_TEXT = 200;

export function parseEventDocument(text: string): EventDocument {
  const list = fieldsOf(parseJson(text))?.["Events"];
  if (!Array.isArray(list)) throw new InvalidDocumentError('the document of Scheduled Events has no list "Events"');
  const events = list.slice(0, MOST_EVENTS).flatMap((event) => parseEvent(event) ?? []);
  return { events, isComplete: events.length === list.length };
}

/** Each machine of a scale set or availability set sees the events of all. */
export function concerns({ resources }: ScheduledEvent, machine: string): boolean {
  return resources.some((name) => name.toLowerCase() === machine.toLowerCase());
}

function parseEvent(value: unknown): ScheduledEvent | undefined {
  const fields = fieldsOf(value) ?? {};
  const [id, type, status] = [fields["EventId"], fields["EventType"], fields["EventStatus"]];
  const resources = fields["Resources"];
  if (!isText(id) || id === "" || !isType(type) || (status !== "Scheduled" && status !== "Started")) return undefined;
  if (!Array.isArray(resources) || !resources.every(isText)) return undefined;
  const { NotBefore: notBefore, DurationInSeconds: duration } = fields;
  return {
    id,
    type,
    status,
    resources,
    notBefore: isText(notBefore) && !Number.isNaN(Date.parse(notBefore)) ? notBefore : "",
    durationSeconds: typeof duration === "number" && Number.isInteger(duration) ? duration : -1,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new InvalidDocumentError("the answer to a request for Scheduled Events is not JSON");
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= LONGEST_TEXT;
}

function isType(value: unknown): value is EventType {
  return isText(value) && TYPES.includes(value);
}
