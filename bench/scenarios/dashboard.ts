/**
 * The page with a large cluster, in a real browser: when it first paints and when its list is there, what it loads, how many
 * elements and how much memory it needs, also after both lists were scrolled to their ends. The cluster is a picture of plain
 * data behind the real API: making it in Azure is measured elsewhere.
 */
import { startApi } from "../../src/api/api-server.ts";
import { LiveView } from "../../src/api/api-source.ts";
import { OPEN } from "../../src/api/authorizer.ts";
import { SILENT_LOG } from "../../src/core/util/log.ts";
import { pageFiles } from "../../src/main/page-files.ts";
import { realClock } from "../../src/main/real-clock.ts";
import { Browser, findBrowser } from "../../test/support/browser.ts";
import { atMost, type BenchReport } from "../report.ts";
import { largePicture } from "../support/large-picture.ts";

export interface DashboardOptions {
  readonly services: number;
  readonly nodes: number;
}

const FIRST_PAINT_MS = 1_000;
const MOST_ELEMENTS = 2_500;
const MOST_HEAP_MB = 30;
const MOST_LOADED_KB = 400;
const WITHIN_MS = 60_000;

export async function benchDashboard({ services, nodes }: DashboardOptions): Promise<BenchReport> {
  const program = findBrowser();
  if (program === undefined) throw new Error("there is no chromium here: install it, or name it in CHROMIUM");
  const picture = largePicture(services, nodes);
  const live = new LiveView({
    version: "bench",
    clusterName: "kubernetes",
    driftPolicy: "report",
    clock: realClock,
    picture: () => picture,
    isReady: () => true,
    leader: () => ({ leads: true, identity: "bench", holder: "bench" }),
    throttle: () => [],
    probeResult: () => Promise.resolve(undefined),
    writes: () => ({ sequence: 0, writes: [] }),
  });
  const files = await pageFiles(SILENT_LOG);
  const common = { host: "127.0.0.1", port: 0, authorizer: OPEN, keys: undefined, log: SILENT_LOG };
  const api = await startApi({ ...common, live, files });
  const browser = await Browser.open(program, `${api.url}/`);
  try {
    const listMs = await until(browser, `document.querySelectorAll(".row").length > 5 && performance.now()`);
    await until(browser, `document.querySelectorAll(".nodes li").length > 5`);
    const paintMs = await browser.run<number>(`performance.getEntriesByName("first-contentful-paint")[0].startTime`);
    const loadedBytes = await browser.run<number>(LOADED);
    const elements = await browser.run<number>(`document.querySelectorAll("*").length`);
    const heapMb = (await browser.heapBytes()) / 1e6;
    await browser.run(`document.querySelector(".rows").scrollTop = 1e9`);
    await browser.run(`document.querySelector(".node-rows").scrollTop = 1e9`);
    await until(browser, `document.querySelector(".rows").innerText.includes("service-${services - 1}")`);
    await until(browser, `document.querySelector(".node-rows").innerText.includes("${lastNode(nodes)}")`);
    const scrolledElements = await browser.run<number>(`document.querySelectorAll("*").length`);
    const scrolledHeapMb = (await browser.heapBytes()) / 1e6;
    return {
      scenario: "dashboard",
      figures: { services, nodes, "list there after ms": listMs },
      bars: {
        "console problems": atMost(browser.problems.length, 0),
        "first paint ms": atMost(Math.round(paintMs), FIRST_PAINT_MS),
        "loaded kB": atMost(Math.round(loadedBytes / 1000), MOST_LOADED_KB),
        "elements of the page": atMost(Math.max(elements, scrolledElements), MOST_ELEMENTS),
        "heap of the page MB": atMost(Math.max(heapMb, scrolledHeapMb), MOST_HEAP_MB),
      },
    };
  } finally {
    await browser.close();
    live.close();
    await api.close();
  }
}

const LOADED = `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .reduce((sum, { transferSize }) => sum + transferSize, 0)`;

function lastNode(nodes: number): string {
  return `node-${String(nodes - 1).padStart(5, "0")}`;
}

/** The value of the expression, once it is truthy. */
async function until(browser: Browser, expression: string): Promise<number> {
  const endMs = realClock.monotonicMs() + WITHIN_MS;
  for (;;) {
    const value = await browser.run<number>(expression);
    if (value) return value;
    if (realClock.monotonicMs() > endMs) throw new Error(`not within ${WITHIN_MS / 1000} s: ${expression}`);
    await realClock.sleep(20);
  }
}
