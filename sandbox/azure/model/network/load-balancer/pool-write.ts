/** A write of one pool, alone or as part of its load balancer, and the admin state of its members. */
import { unreadable } from "../../errors.ts";
import type { Json } from "../../json.ts";
import type { PutInput } from "../../resource-type.ts";

export interface PoolWrite {
  readonly input: PutInput;
  readonly sku: string;
  readonly tier: string;
  readonly item: Json;
  /** The pool as stored now. */
  readonly before: Json | undefined;
  /** Whether the pool itself is PUT, rather than the load balancer around it. */
  readonly alone: boolean;
}

const ADMIN_STATES = new Set(["None", "Up", "Down"]);
const LAST_VERSION_WITH_DRAIN = "2022-09-01";

/** `None` is not stored; the options decide whether an omitted admin state is kept. */
export function settleAdminState(
  write: PoolWrite,
  properties: { [name: string]: unknown },
  written: Json,
  survivor: Json,
): void {
  const given = written["adminState"];
  const next = given ?? survivor["adminState"];
  if (given !== undefined && given !== null) checkAdminState(write, given);
  if (next === undefined || next === null || next === "None") delete properties["adminState"];
  else properties["adminState"] = next;
}

function checkAdminState(write: PoolWrite, value: unknown): void {
  if (typeof value === "string" && ADMIN_STATES.has(value)) return;
  const version = write.input.request.query["api-version"] ?? "";
  if (value === "Drain" && version <= LAST_VERSION_WITH_DRAIN) return;
  throw unreadable(
    "InvalidJson",
    `Error converting value "${String(value)}" to an admin state. It must be None, Up or Down.`,
  );
}
