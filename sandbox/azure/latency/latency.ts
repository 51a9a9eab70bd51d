/**
 * Draws reply times, tails and Retry-After from the profile, scaled by one factor (0: no latency).
 * The n-th call of a kind gets the same draw in every run with the same seed, independent of other calls.
 */
import type { OperationKind } from "../model/contract.ts";
import {
  DELETE_REPLY,
  OTHER,
  POLL,
  READ,
  RETRY_AFTER_PUBLIC_IP_SECONDS,
  RETRY_AFTER_SECONDS,
  SECONDS_PER_MEMBER,
  SLOW_SHARE,
  SLOW_TAIL,
  WRITES,
  type Reply,
} from "./profile.ts";

export interface Latency {
  replyMs(kind: OperationKind): number;
  pollReplyMs(): number;
  /** 0 for writes that need no programming. */
  tailMs(kind: OperationKind): number;
  /** Whole seconds; undefined for less than one second. */
  retryAfterSeconds(kind: OperationKind): number | undefined;
}

/** `none`, `realistic`, or a factor of realistic such as `0.1`; `undefined` when it is none of these. */
export function parseLatencyFactor(text: string): number | undefined {
  if (text === "none") return 0;
  if (text === "realistic") return 1;
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

/** `factor` is read at every draw, so that it can change while the emulator runs. */
export function latencyDraws(factor: () => number, seed: number): Latency {
  const counts = new Map<string, number>();
  const uniform = (purpose: string): number => {
    const count = counts.get(purpose) ?? 0;
    counts.set(purpose, count + 1);
    return uniformOf(`${seed}/${purpose}/${count}`);
  };
  const scaledMs = (seconds: number): number => Math.round(seconds * 1000 * factor());

  return {
    replyMs(kind) {
      if (factor() === 0) return 0;
      return scaledMs(lognormal(replyOf(kind), uniform(`reply ${kind.verb} ${kind.type}`)));
    },
    pollReplyMs() {
      return factor() === 0 ? 0 : scaledMs(lognormal(POLL, uniform("poll")));
    },
    tailMs(kind) {
      if (factor() === 0 || kind.bare) return 0;
      const profile = WRITES[kind.type] ?? OTHER;
      const usual = kind.verb === "DELETE" ? profile.deleteTail : profile.tail;
      const members = kind.weight * SECONDS_PER_MEMBER;
      const luck = uniform(`tail ${kind.verb} ${kind.type}`);
      const slow = SLOW_TAIL.from + (luck / SLOW_SHARE) * (SLOW_TAIL.to - SLOW_TAIL.from);
      return scaledMs((luck < SLOW_SHARE ? Math.max(slow, usual) : usual) + members);
    },
    retryAfterSeconds(kind) {
      const isPublicIp = kind.type.toLowerCase() === "microsoft.network/publicipaddresses";
      const seconds = Math.round((isPublicIp ? RETRY_AFTER_PUBLIC_IP_SECONDS : RETRY_AFTER_SECONDS) * factor());
      return seconds < 1 ? undefined : seconds;
    },
  };
}

function replyOf(kind: OperationKind): Reply {
  switch (kind.verb) {
    case "GET":
    case "LIST":
      return READ;
    case "DELETE":
      return DELETE_REPLY;
    case "PUT":
    case "PATCH":
    case "POST":
      return (WRITES[kind.type] ?? OTHER).reply;
  }
}

/** The quantile of a lognormal through median and 90th percentile, capped at the observed maximum. */
function lognormal(reply: Reply, uniform: number): number {
  const sigma = Math.log(reply.p90 / reply.p50) / Z90;
  return Math.min(reply.max, reply.p50 * Math.exp(sigma * normalQuantile(uniform)));
}

const Z90 = 1.2816;

/** Tukey's lambda form of the normal quantile: within 0.01 of it between the 1st and the 99th percentile. */
function normalQuantile(uniform: number): number {
  const clipped = Math.min(0.999, Math.max(0.001, uniform));
  return (clipped ** 0.135 - (1 - clipped) ** 0.135) / 0.1975;
}

/** A number in [0, 1) that depends on the text alone (FNV-1a, then a finalizing mix). */
function uniformOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x1_0000_0000;
}
