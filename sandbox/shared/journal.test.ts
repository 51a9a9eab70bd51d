import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { openJournal } from "./journal.ts";

const root = mkdtempSync(join(tmpdir(), "azlb-journal-"));
after(() => rmSync(root, { recursive: true }));
let count = 0;
const fresh = (): string => join(root, String(++count));

/** The records after reopening the journal. */
function reopened(directory: string): { snapshot: unknown; entries: readonly unknown[] } {
  const opened = openJournal<unknown, unknown>(directory);
  opened.journal.close();
  return { snapshot: opened.snapshot, entries: opened.entries };
}

test("what was appended is there after opening again, in order", () => {
  const directory = fresh();
  const { journal } = openJournal<unknown, unknown>(directory);
  for (const entry of [{ a: 1 }, "zwei\n", [3]]) journal.append(entry);
  assert.deepEqual(reopened(directory), { snapshot: undefined, entries: [{ a: 1 }, "zwei\n", [3]] });
});

test("a snapshot replaces what came before it; later records follow it; older files are gone", () => {
  const directory = fresh();
  const { journal } = openJournal<unknown, unknown>(directory);
  journal.append(1);
  journal.compact({ upTo: 1 });
  assert.equal(journal.size, 0);
  journal.append(2);
  assert.deepEqual(reopened(directory), { snapshot: { upTo: 1 }, entries: [2] });
  assert.deepEqual(readdirSync(directory).sort(), ["journal-1.log", "snapshot-1.json"]);
});

test("cut at any byte, the journal holds a prefix of whole records and takes new ones", () => {
  const directory = fresh();
  const { journal } = openJournal<unknown, unknown>(directory);
  for (let n = 0; n < 5; n++) journal.append({ n });
  journal.close();
  const path = join(directory, "journal-0.log");
  const whole = readFileSync(path);
  for (let bytes = whole.length; bytes >= 0; bytes--) {
    writeFileSync(path, whole);
    truncateSync(path, bytes);
    const opened = openJournal<unknown, { n: number }>(directory);
    assert.deepEqual(
      opened.entries,
      opened.entries.map((_, n) => ({ n })),
    );
    assert.equal(opened.entries.length, Math.floor((bytes / whole.length) * 5 + 1e-9));
    opened.journal.append({ n: opened.entries.length });
    opened.journal.close();
    assert.equal(reopened(directory).entries.length, opened.entries.length + 1);
  }
});

test("a damaged record ends the journal there; a half-written snapshot is passed over", () => {
  const directory = fresh();
  const { journal } = openJournal<unknown, unknown>(directory);
  journal.append("kept");
  appendFileSync(join(directory, "journal-0.log"), '00000000 "forged"\n');
  writeFileSync(join(directory, "snapshot-7.json.new"), "half");
  writeFileSync(join(directory, "snapshot-7.json"), '12345678 {"torn":');
  assert.deepEqual(reopened(directory), { snapshot: undefined, entries: ["kept"] });
});

test("killed between two generations, whichever files are left tell the same", () => {
  const directory = fresh();
  const { journal } = openJournal<unknown, unknown>(directory);
  journal.append(1);
  const older = readFileSync(join(directory, "journal-0.log"));
  journal.compact({ upTo: 1 });
  const wanted = { snapshot: { upTo: 1 }, entries: [] };
  rmSync(join(directory, "journal-1.log")); // the snapshot was renamed, the next journal not yet made
  writeFileSync(join(directory, "journal-0.log"), older); // and the older one not yet removed
  assert.deepEqual(reopened(directory), wanted);
  assert.deepEqual(readdirSync(directory).sort(), ["journal-1.log", "snapshot-1.json"]);
});
