/**
 * The brake: when much of a group is gone at once, something may be wrong with what we see rather than with the pods.
 * Then nothing is deregistered until the API server has been asked again.
 */
import { ANNOTATION } from "./names.ts";
import type { Meta } from "./objects.ts";

export interface Brake {
  /** Of the group's records, from 0 to 1; more than that is much. */
  readonly share: number;
  /** Fewer than that are never much. */
  readonly least: number;
}

export const DEFAULT_BRAKE: Brake = { share: 0.5, least: 3 };

export function mustConfirm(vanished: number, records: number, { share, least }: Brake): boolean {
  return vanished >= least && vanished > share * records;
}

/** The group's own, where its annotation says so: `30%`, or `off`. A value that makes no sense changes nothing. */
export function brakeOf({ annotations }: Meta, byDefault: Brake): Brake {
  const text = annotations?.[ANNOTATION.brake]?.trim() ?? "";
  if (text === "off") return { share: 1, least: Number.MAX_SAFE_INTEGER };
  const percent = /^(\d{1,3})%$/.exec(text)?.[1];
  return percent === undefined || Number(percent) > 100 ? byDefault : { ...byDefault, share: Number(percent) / 100 };
}
