/**
 * The documents' site, built as `npm run docs:build` builds it: every link of its pages leads to a page and a heading that exist, and
 * its search finds the tasks. Its packages come from npm; where they cannot be fetched the test says so.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix, resolve } from "node:path";
import { suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const ROOT = resolve(import.meta.dirname, "../..");
const SITE = join(ROOT, "site/dist");
const SEARCH = join(ROOT, "site/node_modules/minisearch/dist/es/index.js");
const NO_NETWORK = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH/;

/** As much of the search library, which comes with the site's generator, as the test needs. */
interface Search {
  search(words: string): readonly { readonly id: string }[];
}
interface SearchLibrary {
  readonly default: { loadJSON(text: string, options: object): Search };
}

const missing = await build();

suite("the documents' site", { skip: missing }, () => {
  const pages = missing === false ? pagesOf() : new Map<string, string>();

  test("has a page for every document", () => {
    const documents = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" });
    const expected = documents.filter((file) => file.endsWith(".md")).map((file) => file.replace(/md$/, "html"));
    assert.deepEqual([...pages.keys()].toSorted(), expected.toSorted());
  });

  test("has no link that leads nowhere", () => {
    const dead = [...pages].flatMap(([page, html]) =>
      linksOf(html)
        .filter((link) => !leadsSomewhere(pages, page, link))
        .map((link) => `${page}: ${link}`),
    );
    assert.deepEqual(dead, []);
    assert.ok([...pages.values()].flatMap(linksOf).length > 1_000, "links were looked at");
  });

  test("has a search that finds tasks, annotations and alerts", async () => {
    const search = await openSearch();
    for (const [words, page] of [
      ["drain a node", "tasks/drain"],
      ["sizing memory", "tasks/sizing"],
      ["azure-pip-name", "annotations"],
      ["AzlbServiceWaits", "runbooks/AzlbServiceWaits"],
      ["upgrade rollback", "tasks/upgrade-and-rollback"],
    ] as const) {
      const found = search.search(words).slice(0, 10);
      assert.ok(
        found.some(({ id }) => id.startsWith(`/${page}.html`)),
        `${words}: ${JSON.stringify(found.map(({ id }) => id))}`,
      );
    }
  });
});

/** Why nothing can be said about it; `false` once it is built. */
async function build(): Promise<string | false> {
  const run = (...args: string[]): Promise<unknown> => promisify(execFile)("npm", args, { cwd: ROOT });
  try {
    await run("ci", "--prefix", "site", "--no-audit", "--no-fund");
  } catch (error) {
    if (!NO_NETWORK.test(String((error as { stderr?: string }).stderr))) throw error;
    return "the site's packages cannot be fetched: nothing was tested";
  }
  await run("run", "build", "--prefix", "site");
  return false;
}

/** What each is, by its path below the site. */
function pagesOf(): Map<string, string> {
  const files = readdirSync(SITE, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".html") && file !== "404.html",
  );
  return new Map(files.map((file) => [file, readFileSync(join(SITE, file), "utf8")]));
}

/** Those that stay on the site. */
function linksOf(html: string): string[] {
  const links = [...html.matchAll(/<a [^>]*?href="([^"]+)"/g)].flatMap(([, href]) => href ?? []);
  return links.filter((href) => !/^[a-z]+:/.test(href));
}

function leadsSomewhere(pages: ReadonlyMap<string, string>, page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const joined = path.startsWith("/") ? path.slice(1) : posix.join(posix.dirname(page), path);
  const target = path === "" ? page : joined === "" ? "index.html" : posix.normalize(joined);
  const html = pages.get(target);
  if (html === undefined) return existsSync(join(SITE, target)) && statSync(join(SITE, target)).isFile();
  return heading === undefined || heading === "" || html.includes(` id="${decodeURIComponent(heading)}"`);
}

async function openSearch(): Promise<Search> {
  const chunks = join(SITE, "assets/chunks");
  const [index = ""] = readdirSync(chunks).filter((file) => file.startsWith("@localSearchIndex"));
  const { default: text } = (await import(pathToFileURL(join(chunks, index)).href)) as { default: string };
  const { default: library } = (await import(pathToFileURL(SEARCH).href)) as SearchLibrary;
  return library.loadJSON(text, { fields: ["title", "titles", "text"], storeFields: ["title", "titles"] });
}
