/** History ends somewhere: what is said to a client that asks for more of it than there is. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { type Api, partly, refused } from "./api.ts";
import { WIDGETS, defineWidgets, eventually } from "./widgets.ts";

const EXPIRED = { code: 410, reason: "Expired" };

export function history(api: Api): void {
  test("a watch from a version too old: an ERROR event with 410 Expired, or 410 at once, and the end", async () => {
    await defineWidgets(api);
    await api.compact();
    const watch = await api.watch(`${WIDGETS}?watch=true&resourceVersion=1`);
    const seen = await watch.rest();
    assert.equal(seen.length, 1);
    if (watch.code === 200) partly(seen[0], { type: "ERROR", object: { kind: "Status", ...EXPIRED } });
    else partly(seen[0], { kind: "Status", ...EXPIRED });
  });

  test("a list of a version too old is Expired", async () => {
    await defineWidgets(api);
    await api.compact();
    refused(await api.get(`${WIDGETS}?resourceVersion=1&resourceVersionMatch=Exact`), EXPIRED);
  });

  test("a continue token too old is Expired", async () => {
    const ns = await api.namespace();
    for (const name of ["a", "b", "c"]) await api.create(ns.in("configmaps"), { metadata: { name } });
    const page = async (token: unknown): ReturnType<Api["get"]> =>
      api.get(ns.in(`configmaps?limit=1&continue=${encodeURIComponent(String(token))}`));
    const first = await page("");
    await api.create(ns.in("configmaps"), { metadata: { name: "bb" } });
    await api.compact();
    const token = first.body.metadata["continue"];
    await eventually(async () => (await page(token)).code === 410, "the token is still good");
    refused(await page(token), EXPIRED);
  });
}
