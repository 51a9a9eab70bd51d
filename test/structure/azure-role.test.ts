/**
 * The custom role in `deploy/azure-role.json` grants what the table of resource kinds asks for, and nothing else. That
 * each action is really needed, and that all together suffice, is shown by `test/integration/services/azure-role.test.ts`.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";

import { KINDS, READ_RIGHTS } from "../../src/core/resources/kinds.ts";

const ROLE_FILE = resolve(import.meta.dirname, "../../deploy/azure-role.json");

test("the role holds the rights of all kinds, and no others", () => {
  const { Actions: actions } = JSON.parse(readFileSync(ROLE_FILE, "utf8")) as { Actions: string[] };
  const needed = [...Object.values(KINDS).flatMap(({ rights }) => rights), ...READ_RIGHTS];
  assert.deepEqual(actions.toSorted(), needed.toSorted());
});
