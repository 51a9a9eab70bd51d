/**
 * The brake: when much of a group is gone at once, something may be wrong with what we see rather than with the pods.
 * Then nothing is deregistered until the API server has been asked again.
 */
import { ANNOTATION } from "../objects/names.ts";
import type { Meta } from "../objects/objects.ts";

export interface Brake {
  /** Of the group's records, from 0 to 1; more than that is much. */
  readonly share: number;
  /** Fewer than that are never much. */
  readonly least: number;
}

const OFF = "off";

export const DEFAULT_BRAKE: Brake = { share: 0.5, least: 3 };

export function mustConfirm(vanished: number, records: number, { share, least }: Brake): boolean {
  return vanished >= least && vanished > share * records;
}

/** The group's own, where its annotation says so: `30%`, or `off`. A value that makes no sense changes nothing. */
export function brakeOf(metadata: Meta, byDefault: Brake): Brake {
  const text = annotated(metadata);
  if (text === OFF) return { share: 1, least: Number.MAX_SAFE_INTEGER };
  const percent = percentOf(text);
  return percent === undefined ? byDefault : { ...byDefault, share: percent / 100 };
}

/** What is wrong with the annotation; `undefined`: nothing, or there is none. */
export function brakeMistake(metadata: Meta): string | undefined {
  const text = annotated(metadata);
  if (text === "" || text === OFF || percentOf(text) !== undefined) return undefined;
  return `annotation ${ANNOTATION.brake} "${text.slice(0, 100)}" counts for nothing: write a share such as 30%, or off`;
}

function annotated({ annotations }: Meta): string {
  return annotations?.[ANNOTATION.brake]?.trim() ?? "";
}

function percentOf(text: string): number | undefined {
  const percent = Number(/^(\d{1,3})%$/.exec(text)?.[1]);
  return percent <= 100 ? percent : undefined;
}
