/**
 * The states of a lane, and of a drain on the fast path, with their transitions as data. `lane.ts` and
 * `drain-fast-path.ts` raise the events; what is not in the table cannot happen. Shown, with what each state is for, in
 * `docs/architecture.md`.
 */
import type { Transitions } from "../../core/util/state-machine.ts";

export type LaneState =
  | "idle"
  | "gathering"
  | "selecting"
  | "choosingBase"
  | "awaitingTurn"
  | "inFlight"
  | "pausing"
  | "overtaken";
export type LaneEvent =
  | "submitted"
  | "windowClosed"
  | "moreExpected"
  | "batchTaken"
  | "noneDue"
  | "queueEmpty"
  | "baseChosen"
  | "left"
  | "wholeRepaired"
  | "settled"
  | "interrupted"
  | "setApart"
  | "failed"
  | "retryLater"
  | "pauseOver"
  | "drainsOver";

export const LANE: Transitions<LaneState, LaneEvent> = {
  idle: { submitted: "gathering" },
  gathering: { windowClosed: "selecting" },
  selecting: { moreExpected: "gathering", batchTaken: "choosingBase", noneDue: "pausing", queueEmpty: "idle" },
  choosingBase: {
    baseChosen: "awaitingTurn",
    settled: "overtaken",
    interrupted: "overtaken",
    setApart: "overtaken",
    failed: "overtaken",
    retryLater: "overtaken",
  },
  awaitingTurn: {
    left: "inFlight",
    interrupted: "overtaken",
    setApart: "overtaken",
    failed: "overtaken",
    retryLater: "overtaken",
  },
  inFlight: {
    left: "inFlight",
    wholeRepaired: "choosingBase",
    settled: "overtaken",
    setApart: "overtaken",
    failed: "overtaken",
    retryLater: "overtaken",
  },
  pausing: { pauseOver: "selecting" },
  overtaken: { drainsOver: "selecting" },
};

export type DrainState =
  | "readingPart"
  | "composing"
  | "awaitingTurn"
  | "inFlight"
  | "readingBack"
  | "settled"
  | "returned";
export type DrainEvent =
  | "partRead"
  | "composed"
  | "joined"
  | "left"
  | "written"
  | "wholeRead"
  | "unsuitable"
  | "failed";

export const DRAIN: Transitions<DrainState, DrainEvent> = {
  readingPart: { partRead: "composing", unsuitable: "returned" },
  composing: { composed: "awaitingTurn", unsuitable: "returned" },
  awaitingTurn: { joined: "composing", left: "inFlight", failed: "returned" },
  inFlight: { left: "inFlight", written: "readingBack", failed: "returned" },
  readingBack: { wholeRead: "settled", failed: "returned" },
  settled: {},
  returned: {},
};
