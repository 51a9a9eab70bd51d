/**
 * What a bundle has in place of a module that costs more memory than the programs make use of. Measured in docs/decisions/0021-memory.md;
 * each entry changes what is loaded, none what is done.
 */
import { join } from "node:path";

import type { Plugin } from "esbuild";

const NAMESPACE = "slim";

/**
 * Node's own clients, imported by name: an `import` of them evaluates every export, among them those that load Node's copy of
 * undici and HTTP/2 (10 MB); `require` leaves those until they are asked for.
 */
const HTTP = /^(?:node:)?(https?)$/;
/** undici does without it where it is missing, and the transports never ask for it (`allowH2: false`). */
const HTTP2 = /^(?:node:)?http2$/;

/** Code that asks whether a body is one of these loads Node's copy of undici, too. The libraries ask first whether there are any. */
export const UNUSED_GLOBALS = { FormData: "undefined" };

export const slimModules: Plugin = {
  name: "slim-modules",
  setup(build) {
    build.onResolve({ filter: /^undici$/ }, () => ({ path: join(import.meta.dirname, "undici-part.js") }));
    build.onResolve({ filter: HTTP }, ({ path, kind, namespace }) =>
      kind === "import-statement" && namespace !== NAMESPACE ? { path, namespace: NAMESPACE } : undefined,
    );
    build.onResolve({ filter: HTTP2 }, ({ path }) => ({ path, namespace: NAMESPACE }));
    build.onLoad({ filter: HTTP, namespace: NAMESPACE }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
    build.onLoad({ filter: HTTP2, namespace: NAMESPACE }, () => ({
      contents: 'throw new Error("this program is built without HTTP/2");',
    }));
  },
};

/**
 * V8 keeps a source in which one character is beyond Latin-1 with two bytes for each. esbuild escapes such characters in strings,
 * but not in regular expressions, where the escape means the same.
 */
export function inAscii(source: string): string {
  return source.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
