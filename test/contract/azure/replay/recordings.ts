/**
 * Exchanges that were recorded against the real Azure, read in place from the project's reference folder. They are not
 * part of this repository: where the folder is absent there is nothing to replay, and the suite says so.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";

export const RECORDINGS = resolve(import.meta.dirname, "../../../../../shared/reference/arm-examples");

export interface Exchange {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
}

export interface Recording {
  /** The number that the file's name begins with. */
  readonly number: string;
  readonly name: string;
  readonly exchanges: readonly Exchange[];
}

/** By number; `undefined` where the folder is absent. */
export function readRecordings(): ReadonlyMap<string, Recording> | undefined {
  if (!existsSync(RECORDINGS)) return undefined;
  const files = readdirSync(RECORDINGS).filter((file) => file.endsWith(".json"));
  return new Map(
    files.sort().map((file) => {
      const exchanges = JSON.parse(readFileSync(join(RECORDINGS, file), "utf8")) as Exchange[];
      const number = file.slice(0, 2);
      return [number, { number, name: file.replace(".json", ""), exchanges }];
    }),
  );
}

/** Path and query of a recorded request. */
export function targetOf(exchange: Exchange): string {
  const { pathname, search } = new URL(exchange.request.url);
  return decodeURIComponent(pathname) + search;
}
