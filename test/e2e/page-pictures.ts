/** `npm run pictures`: the README's pictures of the page, from a running sandbox in which something is always going on. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

import { startSandbox } from "../../src/main/sandbox.ts";
import { SILENT_LOG } from "../../src/core/util/log.ts";
import { Browser, findBrowser, type Screen } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";

const FOLDER = resolve(process.argv[2] ?? resolve(import.meta.dirname, "../../docs/pictures"));
const WITHIN_MS = 120_000;
const WIDE: Screen = { width: 1280, height: 1000 };
/** By file; the README has the first. Dark and phone are in `page.e2e.ts`. */
const PICTURES: Readonly<Record<string, Screen & { readonly hash: string }>> = {
  "page.png": { ...WIDE, hash: "#/" },
  "service.png": { ...WIDE, hash: "service" },
};

const program = findBrowser() ?? assert.fail("there is no chromium: install it, or name it in CHROMIUM");
const sandbox = await startSandbox({
  azure: { topology: { nodes: 6, foreign: true } },
  withController: true,
  log: SILENT_LOG,
});
const url = `${sandbox.controller?.apiUrl}/`;
const browser = await Browser.open(program, url);
const flip = (name: string): Promise<Response> =>
  fetch(`${url}api/v1/sandbox/switches`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name }),
  });
const shows = (selector: string, pattern: RegExp): Promise<void> =>
  eventually(async () => {
    const text = `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.innerText).join(" ")`;
    assert.match(await browser.run<string>(text), pattern);
  }, WITHIN_MS);

mkdirSync(FOLDER, { recursive: true });
await flip("add");
await shows(".tile.fine", /^10\s/);
await flip("refuse");
await flip("drain");
await shows(".cards", /broken/);
await shows(".nodes .draining", /draining/);
for (const [file, { hash, ...screen }] of Object.entries(PICTURES)) {
  await browser.look(screen);
  await browser.run(`location.hash = "#/"`);
  await shows(".row", /shop-/);
  if (hash === "service") {
    await browser.run(`[...document.querySelectorAll(".row.fine")][0].click()`);
    await shows(".map", /vmss/);
    await shows(".verdict", /gets there/);
    await shows("[aria-label=Probes]", /up/);
  }
  writeFileSync(resolve(FOLDER, file), await browser.picture());
}
await browser.close();
await sandbox.close();
