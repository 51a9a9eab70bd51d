import assert from "node:assert/strict";
import { test } from "node:test";

import { CONFIG } from "../../../test/support/core-fixtures.ts";
import { liveChange } from "./live-change.ts";

test("an equal config changes nothing; other settings are named and applied", () => {
  assert.deepEqual(liveChange(CONFIG, structuredClone(CONFIG)), { kind: "none" });
  const changed = { ...CONFIG, tags: { team: "blue" }, disableOutboundSnat: !CONFIG.disableOutboundSnat };
  assert.deepEqual(liveChange(CONFIG, changed), { kind: "apply", settings: ["disableOutboundSnat", "tags"] });
});

test("what would move addresses or traffic is refused by key, both values and the fix, whatever else has changed", () => {
  const refused = liveChange(CONFIG, { ...CONFIG, resourceGroup: "other", sku: "basic", tags: { team: "blue" } });
  assert.equal(refused.kind, "refuse");
  const message = "message" in refused ? refused.message : "";
  assert.match(
    message,
    new RegExp(`^resourceGroup is "other" now and was "${CONFIG.resourceGroup}" when the controller`),
  );
  assert.match(message, /; loadBalancerSku is "basic" now and was "standard"/);
  assert.match(message, /set it back, or restart the controller, with --accept-change where it asks for that$/);
});
