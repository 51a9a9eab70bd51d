/**
 * The calls to Azure that a lane makes: reading a whole, and sending a write when its turn has come. What was seen is
 * noted on the way. Decides nothing about what is written.
 */
import type { ArmClient, PutOptions, WriteOptions } from "../arm/arm-client.ts";
import { ArmError, plainFailure } from "../arm/failures.ts";
import { assertResourceShape } from "../arm/arm-client.ts";
import type { Priority } from "../budget/budget.ts";
import type { ArmBody } from "./commit-types.ts";
import { isChanging, isPart, partOf, wholeOf } from "./resource-parts.ts";

export interface LaneIo {
  readonly client: ArmClient;
  /** What was last seen of a whole resource: `null` when it wasn't there, `undefined` when that is unknown. */
  readonly lastSeen: (id: string) => ArmBody | null | undefined;
  /** Was it there when it was last seen, whatever has changed in it since? */
  readonly wasThere: (id: string) => boolean;
  /** `undefined`: what was last seen holds no more, and nothing newer is known. */
  readonly onSeen: (id: string, body: ArmBody | null | undefined) => void;
  /** May this process still write? Asked right before each write leaves. */
  readonly mayWrite: (priority: Priority) => boolean | Promise<boolean>;
  /** Lets in what has come while a write was composed; it may abort the turn. */
  readonly nextTurn: () => Promise<void>;
}

/** The wait of one write for its turn. */
export interface Turn {
  readonly priority: Priority;
  /** Aborted when the write must not leave any more. */
  readonly signal: AbortSignal;
  /** The last word before it leaves; may abort `signal`. */
  readonly beforeLeaving?: () => void;
  /** Azure has told to wait. */
  readonly onHeld?: (waitMs: number) => void;
  /** From here on the write cannot be held back. */
  readonly onLeft: () => void;
}

/**
 * A resource that was there a while ago and is not there now is asked for twice: one stale answer of Azure must not pass
 * for a deletion. Throws a busy `ArmError` where an operation runs, unless for a drain: a write into it would cancel it.
 */
export async function readWhole(
  id: string,
  { priority, signal }: Turn,
  { client, onSeen, wasThere }: LaneIo,
): Promise<ArmBody | null> {
  const find = (): Promise<ArmBody | null> => client.find<ArmBody>(id, { priority, signal });
  const found = (await find()) ?? (wasThere(id) ? await find() : null);
  const whole = found && assertResourceShape(found, `looking at ${id}`);
  onSeen(id, whole);
  if (isChanging(whole) && priority !== "drain")
    throw new ArmError(plainFailure("busy", `${id} is being changed`), "waiting");
  return whole;
}

/** Writes a whole or a part under the ETag of `whole`; what is read then is the whole. */
export async function put(
  id: string,
  body: ArmBody,
  whole: ArmBody | null,
  turn: Turn,
  io: LaneIo,
  reading: NonNullable<PutOptions["reading"]>,
): Promise<ArmBody> {
  const isNew = isPart(id) ? partOf(whole, id) === undefined : whole === null;
  const options = { ...writeOptions(turn, io), ifMatch: isNew ? "absent" : whole?.etag, reading };
  const read = await io.client.put<ArmBody>(id, body, { ...options, ...(isPart(id) && { thenRead: wholeOf(id) }) });
  return noteRead(read, id, whole?.etag, io);
}

export async function remove(id: string, whole: ArmBody | null, turn: Turn, io: LaneIo): Promise<void> {
  const { priority } = turn;
  await io.client.delete(id, { ...writeOptions(turn, io), ifMatch: whole?.etag });
  io.onSeen(wholeOf(id), isPart(id) ? await io.client.find(wholeOf(id), { priority }) : null);
}

/** Notes what was read after a write of `id`, which had found the whole under `etag`. */
export function noteRead(read: ArmBody, id: string, etag: string | undefined, { onSeen }: LaneIo): ArmBody {
  const whole = assertResourceShape(read, `writing ${id}`);
  // what Azure shows right after a write may be from before it, which the ETag tells
  const isOutdated = whole.etag !== undefined && whole.etag === etag;
  onSeen(wholeOf(id), isOutdated ? undefined : whole);
  return whole;
}

export function writeOptions(
  { priority, signal, beforeLeaving, onHeld, onLeft }: Turn,
  { mayWrite, nextTurn }: LaneIo,
): Pick<WriteOptions, "guard" | "queueSignal" | "priority" | "onHeld"> {
  return {
    priority,
    queueSignal: signal,
    onHeld,
    guard: async () => {
      await nextTurn();
      signal.throwIfAborted();
      if (!(await mayWrite(priority)))
        throw new ArmError(plainFailure("fenced", "this process may not write (any more)"), "writing");
      signal.throwIfAborted();
      if (beforeLeaving !== undefined) {
        beforeLeaving();
        signal.throwIfAborted();
      }
      onLeft();
    },
  };
}
