/**
 * The site: pages of `docs` as they stand, a task first, then the reference and the explanations. `npm run docs:build` makes it,
 * without network once its packages are installed; its search is part of the pages. Links that leave `docs` (to the sources, to
 * `deploy`) are for readers of the repository: on the site they are text that names the file. Any other dead link ends the build.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix, resolve } from "node:path";

import { defineConfig } from "vitepress";

const DOCS = resolve(import.meta.dirname, "../../docs");
const TASKS = [
  "get-started",
  "install",
  "take-over",
  "expose",
  "internal",
  "static-address",
  "share",
  "restrict",
  "drain",
  "debug",
  "lbcf-in-ten-minutes",
  "several-load-balancers",
  "sizing",
  "security",
  "upgrade-and-rollback",
  "faq",
];
const REFERENCE = ["annotations", "events", "flags", "metrics", "traces", "api", "releases", "differences"];
const EXPLANATION = [
  "architecture",
  "admin-state",
  "lbcf",
  "handover",
  "several-load-balancers",
  "private-link",
  "security",
  "testing",
  "reliability",
  "benchmarks",
  "emulator",
  "embedded-kubernetes",
  "glossary",
];

export default defineConfig({
  title: "azlb",
  description: "Azure load balancers for Kubernetes Services",
  srcDir: "../docs",
  outDir: resolve(import.meta.dirname, "../dist"),
  cacheDir: resolve(import.meta.dirname, "../.cache"),
  cleanUrls: false,
  lastUpdated: false,
  markdown: { config: asWritten },
  // the pages are outside of this package, and what they become imports Vue
  vite: { resolve: { alias: { vue: resolve(import.meta.dirname, "../node_modules/vue") } } },
  themeConfig: {
    search: { provider: "local" },
    sidebar: [
      { text: "Tasks", items: TASKS.map((name) => page(`tasks/${name}`)) },
      { text: "Reference", items: REFERENCE.map(page), collapsed: false },
      { text: "Explanation", items: EXPLANATION.map(page), collapsed: false },
      { text: "Guides", items: pagesOf("guides"), collapsed: true },
      { text: "Runbooks", items: pagesOf("runbooks"), collapsed: true },
      { text: "Decisions", items: pagesOf("decisions"), collapsed: true },
    ],
  },
});

/** Our pages are plain Markdown: `{{ }}` and `<name>` are text, not Vue's. */
function asWritten(markdown) {
  markdown.set({ html: false });
  const { code_inline: inline } = markdown.renderer.rules;
  markdown.renderer.rules.code_inline = (...args) => inline(...args).replace("<code", "<code v-pre");
  const { text } = markdown.renderer.rules;
  markdown.renderer.rules.text = (...args) => text(...args).replaceAll("{{", "&#123;&#123;");
  markdown.core.ruler.push("links_out_of_docs", ({ tokens, env }) => {
    for (const { children } of tokens) unlink(children ?? [], posix.dirname(env.relativePath ?? ""));
  });
}

/** Of the tokens of a line in a page of this folder: a link to what is no page becomes text with the file's name. */
function unlink(tokens, folder) {
  let file;
  for (const token of tokens) {
    if (token.type === "link_open") file = outside(token.attrGet("href"), folder);
    if (file === undefined || !token.type.startsWith("link_")) continue;
    token.tag = "span";
    token.attrs = token.type === "link_open" ? [["title", `${file} in the repository`]] : null;
    if (token.type === "link_close") file = undefined;
    token.type = token.type.replace("link", "span");
  }
}

/** The path in the repository that a link leads to, unless it is to a page. */
function outside(href, folder) {
  const [path] = decodeURI(href).split("#");
  if (path === "" || /^[a-z]+:/.test(path)) return undefined;
  const target = posix.join("docs", folder, path);
  const isFolder = !path.endsWith(".md") && existsSync(resolve(DOCS, "..", target));
  return isFolder || !target.startsWith("docs/") ? target : undefined;
}

function page(path) {
  const title = /^# (.*)$/m.exec(readFileSync(join(DOCS, `${path}.md`), "utf8"))?.[1] ?? path;
  return { text: title.replaceAll("`", ""), link: `/${path}` };
}

function pagesOf(folder) {
  const files = readdirSync(join(DOCS, folder)).filter((file) => file.endsWith(".md"));
  return files.toSorted().map((file) => page(`${folder}/${file.replace(".md", "")}`));
}
