/** Rows as a table for a terminal, as kubectl prints them: headings in capitals, columns two blanks apart. */
import type { Row } from "./inventory.ts";

/** A cell that is longer is cut: the whole of it is in `-o json`. */
const MOST_CHARACTERS = 60;

export function renderTable(rows: readonly Row[]): string {
  const [first] = rows;
  if (first === undefined) return "nothing found\n";
  const columns = Object.keys(first);
  const cells = rows.map((row) => columns.map((column) => shortened(String(row[column] ?? "") || "-")));
  const lines = [columns.map(heading), ...cells];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const text = lines.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${text.join("\n")}\n`;
}

/** `adminState`: `ADMIN STATE`. */
function heading(column: string): string {
  return column.replace(/[A-Z]/g, (letter) => ` ${letter}`).toUpperCase();
}

function shortened(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS - 1)}…`;
}
