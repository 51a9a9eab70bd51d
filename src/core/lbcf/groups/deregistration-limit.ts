/**
 * How many backends of a group may disappear from the caches at once. Above the limit the watch may be wrong rather than
 * the pods gone, so nothing is deregistered until the API server has been read again. Users set the limit per group with
 * the annotation `lbcf.tkestack.io/brake`.
 */
import { exceedsShare, parseShare, type ShareLimit } from "../../brake/share-limit.ts";
import { ANNOTATION } from "../objects/names.ts";
import type { Meta } from "../objects/objects.ts";

/** Of the group's records. More than that must be confirmed. */
export type DeregistrationLimit = ShareLimit;

const OFF = "off";

export const DEFAULT_DEREGISTRATION_LIMIT: DeregistrationLimit = { share: 0.5, minimum: 3 };

export function mustConfirm(vanished: number, records: number, limit: DeregistrationLimit): boolean {
  return exceedsShare(vanished, records, limit);
}

/** From the group's annotation: `30%`, or `off`. An invalid value leaves the default in force. */
export function deregistrationLimitOf(metadata: Meta, byDefault: DeregistrationLimit): DeregistrationLimit {
  const text = annotated(metadata);
  if (text === OFF) return { share: 1, minimum: Number.MAX_SAFE_INTEGER };
  const share = parseShare(text);
  return share === undefined ? byDefault : { ...byDefault, share };
}

/** What is wrong with the annotation's value; `undefined` when it is valid or absent. */
export function deregistrationLimitMistake(metadata: Meta): string | undefined {
  const text = annotated(metadata);
  if (text === "" || text === OFF || parseShare(text) !== undefined) return undefined;
  return `annotation ${ANNOTATION.brake} "${text.slice(0, 100)}" counts for nothing: write a share such as 30%, or off`;
}

function annotated({ annotations }: Meta): string {
  return annotations?.[ANNOTATION.brake]?.trim() ?? "";
}
