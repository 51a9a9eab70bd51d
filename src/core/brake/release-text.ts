/**
 * The writes of a release as the text that its ConfigMap holds: a line each. A ConfigMap holds at most 1 MiB, and the pools
 * of a thousand Services lose tens of thousands of members; so where they are many, each line has the length of what it
 * shares with the line before it, and the rest. Sorted as they are, that leaves about ten characters of each.
 */
const MOST_PLAIN = 500_000;
/** What an API server accepts, with room for the rest of the object. */
const MOST = 1_000_000;

/** `undefined`: too many for one release. */
export function encodeWrites(lines: readonly string[]): string | undefined {
  const plain = lines.join("\n");
  const text = plain.length <= MOST_PLAIN ? plain : shortened(lines).join("\n");
  return text.length <= MOST ? text : undefined;
}

export function decodeWrites(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.split("\n").filter((each) => each !== "")) {
    const [, length, rest = ""] = /^(\d{1,4}) (.*)$/.exec(line) ?? [];
    lines.push(length === undefined ? line : (lines.at(-1) ?? "").slice(0, Number(length)) + rest);
  }
  return lines;
}

function shortened(lines: readonly string[]): string[] {
  return lines.map((line, at) => {
    const before = lines[at - 1] ?? "";
    let shared = 0;
    while (shared < before.length && before[shared] === line[shared]) shared += 1;
    return `${shared} ${line.slice(shared)}`;
  });
}
