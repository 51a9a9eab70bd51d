/** What `azlb doctor` finds, as data and as lines: each check is right, wrong with the fix, or could not be made. */
import { pluralize, redactTokens } from "../core/util/text.ts";

export type Check =
  | { readonly kind: "ok"; readonly what: string; readonly text: string }
  | { readonly kind: "wrong"; readonly what: string; readonly text: string; readonly fix: string }
  /** The server does not offer what the check needs, or what it rests on is wrong. */
  | { readonly kind: "unknown"; readonly what: string; readonly text: string };

export function ok(what: string, text: string): Check {
  return { kind: "ok", what, text };
}

export function wrong(what: string, text: string, fix: string): Check {
  return { kind: "wrong", what, text: redactTokens(text), fix };
}

export function unknown(what: string, text: string): Check {
  return { kind: "unknown", what, text: redactTokens(text) };
}

const MARKS = { ok: "OK     ", wrong: "WRONG  ", unknown: "?      " } as const;

export function renderChecks(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ what }) => what.length));
  const lines = checks.flatMap((check) => [
    `${MARKS[check.kind]}${check.what.padEnd(width)}  ${check.text}`,
    ...(check.kind === "wrong" ? [`${" ".repeat(width + 9)}fix: ${check.fix}`] : []),
  ]);
  const count = checks.filter(({ kind }) => kind === "wrong").length;
  return [...lines, "", count === 0 ? "Nothing is wrong." : `${pluralize(count, "check")} went wrong.`, ""].join("\n");
}
