import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { snapshot } from "../model/snapshot.ts";
import { ModelApi } from "../testing/model-api.ts";
import { type Durable, openDurable } from "./durable.ts";

const directory = mkdtempSync(join(tmpdir(), "azlb-durable-"));
after(() => rmSync(directory, { recursive: true }));

const options = { acceptLoss: false, log: (line: string) => assert.fail(line) };
const MAPS = "/api/v1/namespaces/default/configmaps";

test("what was recorded comes back, through as many snapshots as it takes", () => {
  let durable: Durable | undefined;
  const model = new ModelApi({ empty: true, record: (changes) => durable?.record(changes) });
  durable = openDurable(directory, model.api, { ...options, compactAtBytes: 2_000 });
  model.create("/api/v1/namespaces", { metadata: { name: "default" } });
  for (let count = 0; count < 200; count++) {
    const name = `map-${count % 7}`;
    const there = model.send("GET", `${MAPS}/${name}`).kind === "ConfigMap";
    if (there && count % 3 === 0) model.delete(`${MAPS}/${name}`);
    else if (there) model.mergePatch(`${MAPS}/${name}`, { data: { count: String(count) } });
    else model.create(MAPS, { metadata: { name } });
  }
  durable.close();
  assert.match(readdirSync(directory).join(" "), /snapshot-[1-9]\d*\.json/, "the journal was never compacted");

  const again = new ModelApi({ empty: true });
  openDurable(directory, again.api, options).close();
  assert.deepEqual(snapshot(again.api.state), snapshot(model.api.state));
});
