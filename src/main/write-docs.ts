/** `npm run docs`: writes the pages of `docs/` that are made of the program's own tables. */
import { writeFileSync } from "node:fs";
import { DOCS } from "./docs.ts";

for (const [file, render] of Object.entries(DOCS)) {
  writeFileSync(new URL(`../../docs/${file}`, import.meta.url), render());
}
