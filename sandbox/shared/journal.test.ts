import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { type Opened, openJournal } from "./journal.ts";

const root = mkdtempSync(join(tmpdir(), "azlb-journal-"));
after(() => rmSync(root, { recursive: true }));
let count = 0;
const fresh = (): string => join(root, String(++count));

type Overrides = { readonly acceptLoss?: boolean; readonly compactAtBytes?: number; readonly log?: string[] };

function open<Entry = unknown>(directory: string, overrides: Overrides = {}): Opened<unknown, Entry> {
  const { acceptLoss = false, compactAtBytes = 1_000_000, log = [] } = overrides;
  return openJournal(directory, { acceptLoss, compactAtBytes, log: (line) => log.push(line) });
}

/** The records after reopening the journal. */
function reopened(directory: string, overrides: Overrides = {}): { snapshot: unknown; entries: readonly unknown[] } {
  const opened = open(directory, overrides);
  opened.journal.close();
  return { snapshot: opened.snapshot, entries: opened.entries };
}

/** A journal of the numbers below `records`; returns its file. */
function written(directory: string, records: number): string {
  const { journal } = open(directory);
  for (let n = 0; n < records; n++) journal.append({ n });
  journal.close();
  return join(directory, "journal-0.log");
}

test("what was appended is there after opening again, in order", () => {
  const directory = fresh();
  const { journal } = open(directory);
  for (const entry of [{ a: 1 }, "zwei\n", [3]]) journal.append(entry);
  assert.deepEqual(reopened(directory), { snapshot: undefined, entries: [{ a: 1 }, "zwei\n", [3]] });
});

test("a snapshot replaces what came before it; later records follow it; older files are gone", () => {
  const directory = fresh();
  const { journal } = open(directory, { compactAtBytes: 0 });
  journal.append(1);
  journal.compactIfLong(() => ({ upTo: 1 }));
  journal.compactIfLong(() => assert.fail("the journal is empty again"));
  journal.append(2);
  assert.deepEqual(reopened(directory), { snapshot: { upTo: 1 }, entries: [2] });
  assert.deepEqual(readdirSync(directory).sort(), ["journal-1.log", "snapshot-1.json"]);
});

test("cut at any byte, the journal holds a prefix of whole records, takes new ones, and logs what it cut", () => {
  const directory = fresh();
  const path = written(directory, 5);
  const whole = readFileSync(path);
  for (let bytes = whole.length; bytes >= 0; bytes--) {
    writeFileSync(path, whole);
    truncateSync(path, bytes);
    const log: string[] = [];
    const opened = open<{ n: number }>(directory, { log });
    assert.deepEqual(
      opened.entries,
      opened.entries.map((_, n) => ({ n })),
    );
    assert.equal(opened.entries.length, Math.floor((bytes / whole.length) * 5 + 1e-9));
    const torn = bytes % (whole.length / 5);
    assert.equal(log.length, torn === 0 ? 0 : 1);
    if (torn > 0) assert.match(log[0] ?? "", new RegExp(`journal-0.log ends with a torn record .*: ${torn} bytes`));
    opened.journal.append({ n: opened.entries.length });
    opened.journal.close();
    assert.equal(reopened(directory).entries.length, opened.entries.length + 1);
  }
});

test("a damaged record at the end ends the journal there; a half-written snapshot is passed over", () => {
  const directory = fresh();
  const { journal } = open(directory);
  journal.append("kept");
  appendFileSync(join(directory, "journal-0.log"), '00000000 "forged"\n');
  writeFileSync(join(directory, "snapshot-7.json.new"), "half");
  writeFileSync(join(directory, "snapshot-7.json"), '12345678 {"torn":');
  assert.deepEqual(reopened(directory), { snapshot: undefined, entries: ["kept"] });
});

test("a damaged record before the end is refused, with its place; accepting the loss keeps what came before", () => {
  const directory = fresh();
  const path = written(directory, 5);
  const whole = readFileSync(path);
  const lineBytes = whole.length / 5;
  for (let record = 0; record < 4; record++) {
    const damaged = Buffer.from(whole);
    damaged[record * lineBytes + 12] = 0;
    writeFileSync(path, damaged);
    assert.throws(() => open(directory), {
      name: "BadInput",
      message:
        `${path} is damaged at record ${record + 1} (line ${record + 1}, byte ${record * lineBytes}): starting would ` +
        `lose this record and ${4 - record} more; restore the file from a copy, or start with --accept-journal-loss to accept that`,
    });
    assert.deepEqual(readFileSync(path), damaged, "untouched");
    const log: string[] = [];
    assert.equal(reopened(directory, { acceptLoss: true, log }).entries.length, record);
    assert.match(log.join(), /dropped, as accepted; see .*journal-0\.log\.damaged/);
    assert.deepEqual(readFileSync(`${path}.damaged`), damaged);
    assert.equal(reopened(directory).entries.length, record, "the loss is accepted once");
  }
});

test("a snapshot that is damaged, empty or missing is refused, unless the loss is accepted", () => {
  for (const spoil of [
    (path: string) => writeFileSync(path, '12345678 {"upTo":'),
    (path: string) => truncateSync(path),
    (path: string) => rmSync(path),
  ]) {
    for (const appended of [0, 1]) {
      const directory = fresh();
      const { journal } = open(directory, { compactAtBytes: 0 });
      journal.append(1);
      journal.compactIfLong(() => ({ upTo: 1 }));
      if (appended > 0) journal.append(2);
      journal.close();
      spoil(join(directory, "snapshot-1.json"));
      assert.throws(() => open(directory), {
        name: "BadInput",
        message: /snapshot-1\.json is (damaged|missing): .*--acc/,
      });
      assert.deepEqual(reopened(directory, { acceptLoss: true }), { snapshot: undefined, entries: [] });
      assert.deepEqual(reopened(directory), { snapshot: undefined, entries: [] }, "the loss is accepted once");
    }
  }
});

test("killed between two generations, whichever files are left tell the same", () => {
  const directory = fresh();
  const { journal } = open(directory, { compactAtBytes: 0 });
  journal.append(1);
  const older = readFileSync(join(directory, "journal-0.log"));
  writeFileSync(join(directory, "journal-1.log"), ""); // the next journal was made, the snapshot not yet renamed
  assert.deepEqual(reopened(directory), { snapshot: undefined, entries: [1] });
  journal.compactIfLong(() => ({ upTo: 1 }));
  for (const isNextThere of [true, false]) {
    if (!isNextThere) rmSync(join(directory, "journal-1.log"));
    writeFileSync(join(directory, "journal-0.log"), older); // the snapshot was renamed, the older journal not yet removed
    assert.deepEqual(reopened(directory), { snapshot: { upTo: 1 }, entries: [] });
    assert.deepEqual(readdirSync(directory).sort(), ["journal-1.log", "snapshot-1.json"]);
  }
});

/** Appends with a limit on file sizes, in a process of its own; prints the acknowledged numbers as JSON. */
const WRITER = `
  import { openJournal } from ${JSON.stringify(import.meta.resolve("./journal.ts"))};
  const [directory, compactAtBytes] = process.argv.slice(1);
  const options = { acceptLoss: false, compactAtBytes: Number(compactAtBytes), log: (line) => console.error(line) };
  const { journal } = openJournal(directory, options);
  const kept = [];
  for (let n = 0; n < 8; n++) {
    try {
      journal.append({ n, ballast: "x".repeat(n % 2 === 0 ? 700 : 10) });
      kept.push(n);
    } catch (error) {
      if (error.name !== "JournalWriteError" || !/EFBIG/.test(error.message)) throw error;
    }
    journal.compactIfLong(() => ({ ballast: "x".repeat(5_000) }));
  }
  console.log(JSON.stringify(kept));
`;

function writeWithLimit(directory: string, compactAtBytes: number): { kept: number[]; log: string } {
  const command = 'ulimit -f 2 && exec "$0" --input-type=module-typescript -e "$1" "$2" "$3"';
  const run = spawnSync("bash", ["-c", command, process.execPath, WRITER, directory, String(compactAtBytes)], {
    encoding: "utf8",
  });
  assert.equal(run.status, 0, run.stderr);
  return { kept: JSON.parse(run.stdout) as number[], log: run.stderr };
}

test("a record that the disk refuses is not acknowledged, and those acknowledged before and after it survive", () => {
  const directory = fresh();
  const { kept } = writeWithLimit(directory, 1_000_000);
  assert.ok(kept.includes(0) && !kept.includes(6) && kept.includes(7), kept.join());
  assert.deepEqual(
    reopened(directory, { log: [] }).entries.map((entry) => (entry as { n: number }).n),
    kept,
  );
});

test("a snapshot that the disk refuses leaves the journal as it was", () => {
  const directory = fresh();
  const { kept, log } = writeWithLimit(directory, 100);
  assert.match(log, /could not be replaced by a snapshot, and stays: EFBIG/);
  assert.deepEqual(readdirSync(directory), ["journal-0.log"]);
  assert.equal(reopened(directory).entries.length, kept.length);
});

test("the state is readable by its owner only, also where it was readable by others", () => {
  const directory = fresh();
  const { journal } = open(directory, { compactAtBytes: 0 });
  journal.append(1);
  journal.compactIfLong(() => ({ upTo: 1 }));
  journal.append(2);
  journal.close();
  const modes = (): string[] =>
    [directory, ...readdirSync(directory).map((file) => join(directory, file))].map((path) =>
      (statSync(path).mode & 0o777).toString(8),
    );
  assert.deepEqual(modes(), ["700", "600", "600"]);
  chmodSync(directory, 0o755);
  for (const file of readdirSync(directory)) chmodSync(join(directory, file), 0o644);
  reopened(directory);
  assert.deepEqual(modes(), ["700", "600", "600"]);
});
