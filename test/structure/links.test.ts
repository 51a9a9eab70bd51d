/** Links of our documents lead to files that exist, and to headings that they have. Addresses elsewhere are not asked for. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";

const ROOT = resolve(import.meta.dirname, "../..");
const LINK = /\]\(([^)\s]+)\)/g;

test("links lead somewhere", () => {
  const pages = [...globSync("*.md", { cwd: ROOT }), ...globSync("{docs,deploy,examples}/**/*.md", { cwd: ROOT })];
  const broken = pages.flatMap((page) => brokenLinks(join(ROOT, page)).map((link) => `${page}: ${link}`));
  assert.deepEqual(broken, []);
  assert.ok(pages.length > 50, "too few pages were read");
});

test("anchors are made as the readers of Markdown make them", () => {
  assert.equal(anchorOf("4. Take over: the incumbent's, `azlb` starts"), "4-take-over-the-incumbents-azlb-starts");
});

function brokenLinks(page: string): string[] {
  const text = withoutCode(readFileSync(page, "utf8"));
  const links = [...text.matchAll(LINK)].map(([, link = ""]) => link);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const file = path === "" ? page : resolve(dirname(page), path);
    if (!existsSync(file) || relative(ROOT, file).startsWith("..")) return true;
    return anchor !== undefined && !anchorsOf(file).has(anchor);
  });
}

function anchorsOf(file: string): ReadonlySet<string> {
  const titles = [...withoutCode(readFileSync(file, "utf8")).matchAll(/^#+ (.*)$/gm)];
  return new Set(titles.map(([, title = ""]) => anchorOf(title)));
}

function anchorOf(title: string): string {
  return title
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");
}

function withoutCode(text: string): string {
  return text.replaceAll(/^ *```[\s\S]*?^ *```/gm, "");
}
