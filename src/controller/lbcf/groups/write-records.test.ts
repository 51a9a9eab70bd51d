/** Writing the records of a group: what fails stops nothing of its kind, and no more are under way than the bound. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { group, record } from "../../../../test/support/lbcf-objects.ts";
import { settled } from "../../../../test/support/virtual-clock.ts";
import type { GroupActions } from "../../../core/lbcf/groups/reconcile-backend-group.ts";
import { writeRecords, type RecordWriter } from "./write-records.ts";

const draftsOf = (count: number): GroupActions["creates"] =>
  Array.from({ length: count }, (_, at) => ({ name: `record-${at}`, spec: record().spec }));
const actions = (given: Partial<GroupActions>): GroupActions =>
  ({ deletes: [], updates: [], creates: [], ...given }) as unknown as GroupActions;
const unused = (): never => assert.fail("not asked for");

test("a failed record keeps no other of its kind from being written, and is counted", async () => {
  const made: string[] = [];
  const writer: RecordWriter = {
    deleteRecord: unused,
    updateRecord: unused,
    createRecord: async (_, { name }) => {
      await settled();
      if (name.endsWith("3")) throw new Error(`${name} is over quota`);
      made.push(name);
    },
  };
  const failed = await writeRecords(writer, group("web"), actions({ creates: draftsOf(100) }));
  assert.equal(made.length, 90);
  assert.deepEqual(
    [failed?.reason, failed?.message],
    ["CreateBackendFailed", "cannot create 10 backend records: record-3 is over quota"],
  );
});

test("of thousands a few are under way at a time", async () => {
  let underWay = 0;
  let most = 0;
  const writer: RecordWriter = {
    deleteRecord: unused,
    updateRecord: unused,
    createRecord: async () => {
      most = Math.max(most, ++underWay);
      await Promise.resolve();
      underWay -= 1;
    },
  };
  assert.equal(await writeRecords(writer, group("web"), actions({ creates: draftsOf(5_000) })), undefined);
  assert.ok(most > 1 && most <= 32, `${most} at once`);
});
