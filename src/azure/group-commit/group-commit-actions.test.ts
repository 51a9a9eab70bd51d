import assert from "node:assert/strict";
import { test } from "node:test";

import { commitRig, LB } from "../../../test/support/commit-rig.ts";
import { answersOf, type Merged } from "../../core/outcome.ts";
import type { ArmResponse } from "../arm/transport.ts";
import type { ArmBody } from "./commit-types.ts";
import { WriteKind } from "./write-kind.ts";

interface Body extends ArmBody {
  readonly properties: { readonly provisioningState: string; readonly migrated: boolean };
}

function merge(seen: Body | undefined, fragments: readonly string[]): Merged<Body> {
  const answers = answersOf(fragments);
  if (seen === undefined || seen.properties.migrated) return { outcome: { kind: "unchanged" }, answers };
  const body = { ...seen, properties: { ...seen.properties, migrated: true } };
  return { outcome: { kind: "post", action: { name: "migrate", request: { all: true } }, body }, answers };
}

test("an action is posted after a read, and again until its effect can be read", async () => {
  const { arm, commit, run } = commitRig();
  const write = (migrated: boolean): void =>
    arm.write(LB, { id: LB, properties: { provisioningState: "Succeeded", migrated } });
  write(false);
  let posts = 0;
  arm.interpose = ({ method, url }): ArmResponse | undefined => {
    if (method !== "POST") return undefined;
    assert.ok(new URL(url).pathname.endsWith("/loadBalancers/lb/migrate"));
    if (++posts === 2) write(true); // the first one is answered before it has an effect
    return { status: 200, headers: {}, body: "{}" };
  };
  const kind = new WriteKind<Body, string>("migration", merge);
  const committed = await run(commit.submit({ id: LB, kind, fragment: "f", priority: "create" }));
  assert.equal(committed.kind, "written");
  assert.equal(posts, 2);
  const methods = arm.requests.map(({ method }) => method);
  assert.equal(methods[0], "GET");
  assert.ok(!methods.includes("PUT"));
  assert.equal((await run(commit.submit({ id: LB, kind, fragment: "f", priority: "create" }))).kind, "unchanged");
});
