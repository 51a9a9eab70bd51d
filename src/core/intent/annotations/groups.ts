/**
 * Every annotation of a Service that we know: the one table that the parser reads by, that misspelt keys are compared
 * with and that `docs/annotations.md` is made of (`npm run docs`). The `parse-*.ts` files read them.
 */
import { ACCESS } from "./access.ts";
import type { Annotation } from "./annotation.ts";
import { OURS } from "./ours.ts";
import { PLACEMENT } from "./placement.ts";
import { PRIVATE_LINK } from "./private-link.ts";
import { PORT_KEYS, PROBES } from "./probes.ts";
import { RULES } from "./rules.ts";

export interface Group {
  readonly title: string;
  readonly annotations: readonly Annotation<unknown>[];
}

export const GROUPS: readonly Group[] = [
  { title: "Placement and address", annotations: Object.values(PLACEMENT) },
  { title: "Rules", annotations: Object.values(RULES) },
  { title: "Who may reach it", annotations: Object.values(ACCESS) },
  { title: "Health probes", annotations: Object.values(PROBES) },
  { title: "Per port", annotations: Object.values(PORT_KEYS) },
  { title: "Private link service", annotations: Object.values(PRIVATE_LINK) },
  { title: "Of this controller", annotations: Object.values(OURS) },
];

/** Keys that decide who can reach a Service: what is not understood about them refuses it. */
export const EXPOSURE: readonly Annotation<unknown>[] = [
  PLACEMENT.internal,
  RULES.gateway,
  ACCESS.disableNsgRule,
  ACCESS.serviceTags,
  ACCESS.ipRanges,
  ACCESS.sourceRanges,
  ACCESS.destinationRanges,
  ACCESS.denyAllExcept,
];
