/**
 * The page's files: those that `npm run build` put beside the program or, in a checkout, made from `src/dashboard` on the
 * spot, which takes a moment. Where neither works there is the API without a page.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import type { PageFile } from "../api/api-server.ts";
import type { Log } from "../core/util/log.ts";
import { errorText } from "../core/util/text.ts";
import { shippedFile } from "./shipped-files.ts";

const TYPES: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "app.js": "text/javascript; charset=utf-8",
  "app.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
};

/** Where the built files are beside a program. */
const BUILT = "dashboard";
const BUILDER = "../../build/dashboard.ts";

export async function pageFiles(log: Log): Promise<ReadonlyMap<string, PageFile>> {
  try {
    return await readPage();
  } catch (error) {
    log.warn(`the API has no page: ${errorText(error)}`);
    return new Map();
  }
}

async function readPage(): Promise<ReadonlyMap<string, PageFile>> {
  const folder = shippedFile(BUILT);
  if (!existsSync(join(folder, "index.html"))) return builtOnTheSpot();
  const read = async ([name, type]: readonly [string, string]): Promise<[string, PageFile]> => [
    `/${name}`,
    { type, body: await readFile(join(folder, name)) },
  ];
  return new Map(await Promise.all(Object.entries(TYPES).map(read)));
}

/** A bundle does not have the builder in it, so it is named by a value. */
async function builtOnTheSpot(): Promise<ReadonlyMap<string, PageFile>> {
  const builder = (await import(new URL(BUILDER, import.meta.url).href)) as {
    buildDashboard: () => Promise<Readonly<Record<string, string>>>;
  };
  const files = await builder.buildDashboard();
  return new Map(Object.entries(TYPES).map(([name, type]) => [`/${name}`, { type, body: files[name] ?? "" }]));
}
