import assert from "node:assert/strict";
import { test } from "node:test";

import { pod } from "../../../../test/support/lbcf-objects.ts";
import { isSelected } from "./pods.ts";

test("a selector without labels selects no pod", () => {
  assert.equal(isSelected(pod("web-0"), { labels: {}, except: [] }), false);
});
