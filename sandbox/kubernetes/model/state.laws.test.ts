/** Laws that hold for every history of writes: what lists, watches, pages and snapshots say is one and the same. */
import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../../test/support/laws.ts";
import { ModelApi } from "../testing/model-api.ts";
import type { HistoryEntry, KubeObject, WatchFrame } from "./contract.ts";
import { restore, snapshot } from "./snapshot.ts";
import { newState } from "./state.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

type Act =
  | { readonly verb: "create" | "delete" | "relabel" | "hold" | "release"; readonly name: string }
  | { readonly verb: "write"; readonly name: string; readonly value: string };

const names = fc.constantFrom("a", "b", "c", "d", "e");
const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    fc.record({ verb: fc.constantFrom("create", "delete", "relabel", "hold", "release"), name: names }),
    fc.record({ verb: fc.constant("write"), name: names, value: fc.constantFrom("1", "2") }),
  ),
  { maxLength: 60 },
);

/** Refusals are part of life here: a second create, a delete of nothing. */
function act(model: ModelApi, { verb, name, ...rest }: Act): void {
  const url = `${MAPS}/${name}`;
  const patch = (body: object): void => void model.request("PATCH", url, body, "application/merge-patch+json");
  switch (verb) {
    case "create":
      return void model.request("POST", MAPS, { metadata: { name, labels: { in: "yes" } } });
    case "delete":
      return void model.request("DELETE", url);
    case "relabel": {
      const now = model.send("GET", url).metadata.labels?.["in"];
      return patch({ metadata: { labels: { in: now === "yes" ? "no" : "yes" } } });
    }
    case "hold":
      return patch({ metadata: { finalizers: ["azlb.io/held"] } });
    case "release":
      return patch({ metadata: { finalizers: null } });
    case "write":
      return patch({ data: { value: (rest as { value: string }).value } });
  }
}

/** What a watcher knows after these frames, if it knew `known` before. */
function follow(known: Map<string, KubeObject>, frames: Iterable<WatchFrame>): void {
  for (const { type, object } of frames) {
    const { metadata } = object as KubeObject;
    const name = metadata.name ?? "";
    if (type === "ADDED") assert.ok(!known.has(name), `${name} was added twice`);
    if (type === "MODIFIED" || type === "DELETED") assert.ok(known.has(name), `${name} changed before it was added`);
    if (type === "DELETED") known.delete(name);
    else if (type !== "BOOKMARK") known.set(name, object as KubeObject);
  }
}

const byName = (items: Iterable<KubeObject>): Record<string, string | undefined> =>
  Object.fromEntries(Array.from(items, ({ metadata }) => [metadata.name, metadata.resourceVersion]));

for (const selector of ["", "&labelSelector=in%3Dyes"]) {
  test(`a list and the watch from it end where a new list is${selector === "" ? "" : ", under a selector"}`, () => {
    fc.assert(
      fc.property(acts, acts, (before, after) => {
        const model = new ModelApi();
        for (const item of before) act(model, item);
        const list = model.get(`${MAPS}?limit=100${selector}`);
        const version = list.metadata.resourceVersion ?? "";
        const known = new Map((list["items"] as KubeObject[]).map((item) => [item.metadata.name ?? "", item]));
        const entries: HistoryEntry[] = [];
        model.api.subscribe((entry) => entries.push(entry));
        const live = model.watch(`${MAPS}?watch=true&resourceVersion=${version}${selector}`);
        for (const item of after) act(model, item);
        const late = model.watch(`${MAPS}?watch=true&resourceVersion=${version}${selector}`);
        const lateKnown = new Map(known);
        follow(
          known,
          entries.flatMap((entry) => live.accept(entry, model.nowMs)),
        );
        follow(lateKnown, late.first);
        const now = byName(model.items(`${MAPS}?limit=100${selector}`));
        assert.deepEqual(byName(known.values()), now);
        assert.deepEqual(byName(lateKnown.values()), now);
      }),
    );
  });
}

test("pages show the state of the first one, whatever is written in between", () => {
  fc.assert(
    fc.property(acts, fc.array(acts, { maxLength: 6 }), fc.integer({ min: 1, max: 3 }), (before, between, limit) => {
      const model = new ModelApi();
      for (const name of ["a", "b", "c", "d", "e"]) act(model, { verb: "create", name });
      for (const item of before) act(model, item);
      const whole = byName(model.items(MAPS));
      const seen: KubeObject[] = [];
      let url: string | undefined = `${MAPS}?limit=${limit}`;
      for (let page = 0; url !== undefined; page++) {
        const list = model.get(url) as KubeObject & { items: KubeObject[]; metadata: { continue?: string } };
        seen.push(...list.items);
        for (const item of between[page] ?? []) act(model, item);
        const next: string | undefined = list.metadata.continue;
        url = next === undefined ? undefined : `${MAPS}?limit=${limit}&continue=${encodeURIComponent(next)}`;
      }
      assert.deepEqual(byName(seen), whole);
    }),
  );
});

test("a snapshot and the changes since make the same state, resourceVersions and watch history included", () => {
  fc.assert(
    fc.property(acts, acts, (before, after) => {
      const model = new ModelApi();
      for (const item of before) act(model, item);
      const taken = structuredClone(snapshot(model.api.state));
      const entries: HistoryEntry[] = [];
      model.api.subscribe((entry) => entries.push(entry));
      for (const item of after) act(model, item);
      const restored = newState();
      restore(
        restored,
        taken,
        entries.map(({ previous: _previous, ...change }) => structuredClone(change)),
      );
      assert.deepEqual(snapshot(restored), snapshot(model.api.state));
      assert.equal(restored.compactedRevision, taken.revision);
      assert.deepEqual(
        restored.history.map((entry) => entry.revision),
        entries.map((entry) => entry.revision),
      );
      assert.deepEqual(restored.indexes, model.api.state.indexes);
    }),
  );
});

test("a write that changes nothing keeps the resourceVersion and sends no event", () => {
  const model = new ModelApi();
  const made = model.create(MAPS, { metadata: { name: "a" }, data: { k: "v" } });
  let told = 0;
  model.api.subscribe(() => told++);
  const again = model.put(`${MAPS}/a`, made);
  assert.equal(again.metadata.resourceVersion, made.metadata.resourceVersion);
  assert.equal(told, 0);
});

test("after compaction an old version is refused with 410, in a watch and in a continued list", () => {
  const model = new ModelApi();
  for (const name of ["a", "b"]) model.create(MAPS, { metadata: { name } });
  const page = model.get(`${MAPS}?limit=1`) as KubeObject & { metadata: { continue: string } };
  const version = page.metadata.resourceVersion ?? "";
  model.create(MAPS, { metadata: { name: "c" } });
  model.api.compact();
  assert.equal(model.refusal("GET", `${MAPS}?limit=1&continue=${page.metadata.continue}`).code, 410);
  const watch = model.watch(`${MAPS}?watch=true&resourceVersion=${version}`);
  assert.equal(watch.ended, true);
  const [frame] = watch.first as readonly { object: { code: number } }[];
  assert.equal(frame?.object.code, 410);
});
