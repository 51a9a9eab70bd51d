/** The pages of `docs/` that are generated from the program's tables, by file name. `write-docs.ts` writes them. */
import { renderFlagDocs } from "../cli/flag-docs.ts";
import { renderMetricDocs } from "../controller/metric-docs.ts";
import { renderEventDocs } from "../core/events/event-docs.ts";
import { renderAnnotationDocs } from "../core/intent/annotation-docs.ts";
import { repositoryProgram } from "./repository-program.ts";

export const DOCS: Readonly<Record<string, () => string>> = {
  "annotations.md": renderAnnotationDocs,
  "events.md": renderEventDocs,
  "flags.md": () => renderFlagDocs(repositoryProgram()),
  "metrics.md": renderMetricDocs,
};
