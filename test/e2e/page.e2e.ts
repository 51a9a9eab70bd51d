/**
 * The sandbox's page in a real browser (Chromium over its DevTools protocol): each panel shows what the API server and the
 * emulated Azure hold; a refused Service, a drain, a throttle and an edit by hand appear and go; axe finds nothing serious, and the
 * keyboard is enough; the console stays empty. Where there is no browser the test says so.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import axe from "axe-core";

import { type RunningSandbox, startSandbox } from "../../src/main/sandbox.ts";
import { SILENT_LOG } from "../../src/core/util/log.ts";
import { Browser, findBrowser } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";

const WITHIN_MS = 60_000;
const program = findBrowser();
const AXE_RUN = `axe.run().then(({ violations }) => violations
  .filter(({ impact }) => impact === "serious" || impact === "critical")
  .map(({ id, impact, nodes }) => ({ id, impact, where: nodes.slice(0, 3).map(({ html, failureSummary }) => html + " " + failureSummary) })))`;
const SCREENS = [
  { width: 1280, height: 900 },
  { width: 1280, height: 900, isDark: true },
  { width: 390, height: 844 },
  { width: 390, height: 844, isDark: true },
] as const;

describe("the page", { skip: program === undefined ? "no chromium here: nothing was tested" : false }, () => {
  let sandbox: RunningSandbox;
  let browser: Browser;
  before(async () => {
    sandbox = await startSandbox({
      azure: { topology: { nodes: 4, foreign: true } },
      withController: true,
      log: SILENT_LOG,
    });
    browser = await Browser.open(program ?? "", `${sandbox.controller?.apiUrl}/`);
  });
  after(async () => {
    await browser.close();
    await sandbox.close();
  });

  const textOf = (selector: string): Promise<string> =>
    browser.run<string>(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.innerText).join(" | ")`,
    );
  const shows = (selector: string, pattern: RegExp): Promise<void> =>
    eventually(async () => assert.match(await textOf(selector), pattern), WITHIN_MS);
  const press = (label: string): Promise<unknown> =>
    browser.run(
      `[...document.querySelectorAll(".switches button")].find((each) => each.innerText === ${JSON.stringify(label)}).click()`,
    );

  test("Services come with their addresses, and their writes as batches", async () => {
    await shows(".switches", /Add 10 Services/);
    await press("Add 10 Services");
    await shows(".tile.fine", /^10\s+fine$/);
    await shows(".writes", /PUT[\s\S]*fragments?: .*frontend/);
    const addresses = new Set((await textOf(".row .address")).split(" | "));
    const held = await state(sandbox);
    for (const address of addresses) assert.ok(held.includes(`"${address}"`), address);
  });

  test("a refused Service appears with its sentence and a fix, and goes when it is mended", async () => {
    await press("Add a broken one");
    await shows(".cards", /broken[\s\S]*azure-load-balancer-internal[\s\S]*kubectl edit service broken/);
    await shows(".tile.needsYou", /^1\s/);
    await press("Mend it");
    await shows(".tile.needsYou", /^0\s/);
    await eventually(async () => assert.equal(await textOf(".cards"), ""), WITHIN_MS);
  });

  test("a drain fades the node, on the list and on the map, and it comes back", async () => {
    await press("Drain a node");
    await shows(".nodes .draining", /draining: drain/);
    await browser.run(`document.querySelector(".row").click()`);
    await shows(".map .box.down", /Down/);
    assert.match(await textOf(".map .box.good"), /vmss/);
    await browser.run(`location.hash = "#/"`);
    await shows(".switches", /Restore/);
    await press("Restore nodes");
    await eventually(async () => assert.equal(await textOf(".nodes .draining"), ""), WITHIN_MS);
  });

  test("a throttle shows how long Azure wants to be left alone, and goes, and the Service that waited for it is served", async () => {
    await shows(".tile.fine", /^11\s/);
    await press("Throttle");
    await shows(".throttled", /^writes: throttled for \d+ s$/);
    await shows(".row", /late-/);
    await eventually(async () => assert.equal(await textOf(".throttled"), ""), WITHIN_MS);
    await shows(".tile.fine", /^12\s/);
  });

  test("an edit by hand is drift, with the command that ends it", async () => {
    await press("Edit by hand");
    await shows(".cards", /drifted[\s\S]*azlb\.io\/drift-policy=enforce/);
  });

  test("what is not ours is told apart, and who can reach a Service is answered", async () => {
    await shows(".balancers", /not ours, untouched: foreign-frontend/);
    await browser.run(
      `[...document.querySelectorAll(".row.fine")].find((row) => row.innerText.includes("shop-")).click()`,
    );
    await shows(".verdict.reaches", /gets there[\s\S]*security rule: .* allows it/);
    await shows("[aria-label=Probes]", /by TCP :\d+ 4 of 4 up/);
    await shows(".map", /ready endpoint\s+on vmss/);
  });

  test("axe finds nothing serious: all Services and one, in light and dark, on a screen and on a phone", async () => {
    await browser.run(axe.source);
    for (const hash of ["#/", undefined])
      for (const screen of SCREENS) {
        await browser.look(screen);
        if (hash === undefined) {
          await browser.run(`location.hash = "#/"`);
          await shows(".row", /shop-/);
          await browser.run(`document.querySelector(".row").click()`);
          await shows(".map", /vmss/);
        } else {
          await browser.run(`location.hash = "${hash}"`);
          await shows(".row", /shop-/);
        }
        const found = await browser.run<{ id: string; impact: string; where: string[] }[]>(AXE_RUN);
        assert.deepEqual(found, [], `${hash ?? "a Service"} at ${JSON.stringify(screen)}`);
        const [wide, width] = await browser.run<[number, number]>(`[document.documentElement.scrollWidth, innerWidth]`);
        assert.ok(wide <= width, `${wide} px wide on a screen of ${width}`);
        const cut = `[...document.querySelectorAll(".card, .tile, .panel, .rows")].filter((each) => each.getBoundingClientRect().right > innerWidth).map(({ className }) => className)`;
        assert.deepEqual(await browser.run(cut), [], "cut off");
      }
    await browser.look(SCREENS[0]);
  });

  test("with the keyboard alone: find a Service, go to it, and back", async () => {
    await browser.run(`location.hash = "#/"`);
    await shows(".row", /shop-/);
    await browser.run(`document.activeElement?.blur()`);
    await browser.press("/");
    assert.equal(await browser.run(`document.activeElement.id`), "search");
    await browser.run(`document.querySelector(".rows").focus()`);
    await browser.press("ArrowDown");
    assert.match(await browser.run<string>(`document.activeElement.className`), /^row /);
    await browser.press("Enter");
    await eventually(async () => assert.match(await browser.run<string>("location.hash"), /^#\/services\//), WITHIN_MS);
    await browser.press("Escape");
    await shows(".row", /shop-/);
  });

  test("the console stays empty, and the first paint takes less than a second", async () => {
    assert.deepEqual(browser.problems, []);
    const paintMs = await browser.run<number>(`performance.getEntriesByName("first-contentful-paint")[0].startTime`);
    assert.ok(paintMs < 1_000, `${paintMs} ms`);
  });
});

async function state({ azure }: RunningSandbox): Promise<string> {
  return (await fetch(`${azure.controlUrl}/state`)).text();
}
