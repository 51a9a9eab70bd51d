/**
 * The site: pages of `docs` as they stand, a task first, then the reference and the explanations. `npm run docs:build` makes it,
 * without network once its packages are installed; its search is part of the pages. Links that leave `docs` (to the sources, to
 * `deploy`) are for readers of the repository.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

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
  ignoreDeadLinks: [
    /\.\.\/(deploy|src|test|sandbox|examples|bench|sim|README|CONTRIBUTING|CHANGELOG)/,
    /decisions(\/index)?$/,
    /runbooks(\/index)?$/,
  ],
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
}

function page(path) {
  const title = /^# (.*)$/m.exec(readFileSync(join(DOCS, `${path}.md`), "utf8"))?.[1] ?? path;
  return { text: title.replaceAll("`", ""), link: `/${path}` };
}

function pagesOf(folder) {
  const files = readdirSync(join(DOCS, folder)).filter((file) => file.endsWith(".md"));
  return files.toSorted().map((file) => page(`${folder}/${file.replace(".md", "")}`));
}
