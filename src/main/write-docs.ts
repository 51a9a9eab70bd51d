/** `npm run docs`: writes the pages of `docs/` that are made of the program's own tables. */
import { writeFileSync } from "node:fs";
import { renderAnnotationDocs } from "../core/service/annotation-docs.ts";

writeFileSync(new URL("../../docs/annotations.md", import.meta.url), renderAnnotationDocs());
