import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeTags, overlayTags, parseTagList } from "./tags.ts";

test("a wanted tag is added and the others stay", () => {
  assert.deepEqual(mergeTags({ team: "a" }, { env: "prod" }, []), { team: "a", env: "prod" });
});

test("keys compare without case, and the spelling that is there stays; values to the letter", () => {
  const seen = { Env: "prod" };
  assert.equal(mergeTags(seen, { env: "prod" }, []), seen);
  assert.deepEqual(mergeTags(seen, { env: "Prod" }, []), { Env: "Prod" });
});

test("nothing wanted and nothing there stays nothing", () => {
  assert.equal(mergeTags(undefined, {}, []), undefined);
});

test("with systemTags, what is neither wanted nor a system tag goes", () => {
  const seen = { env: "prod", "aks-managed-x": "1", stray: "2" };
  assert.deepEqual(mergeTags(seen, { ENV: "prod" }, ["AKS-managed"]), { env: "prod", "aks-managed-x": "1" });
});

test("tags are read from pairs, trimmed, and what is no pair is left out by name", () => {
  assert.deepEqual(parseTagList(" a=b , c = d e,broken,x=1=2,=v,,n= null ,empty="), {
    tags: { a: "b", c: "d e", n: " null ", empty: "" },
    malformed: ["broken", "x=1=2", "=v"],
  });
});

test("keys that differ in case are one key, and the last one counts", () => {
  assert.deepEqual(parseTagList("Env=a,team=x,ENV=b").tags, { team: "x", ENV: "b" });
  const seen = { env: "b" };
  assert.equal(mergeTags(seen, { Env: "a", ENV: "b" }, []), seen);
  assert.deepEqual(mergeTags(undefined, { Env: "a", ENV: "b" }, []), { ENV: "b" });
});

test("an overlay of tags wins whatever the case of its keys", () => {
  assert.deepEqual(overlayTags({ Env: "test", team: "a" }, { env: "prod" }), { env: "prod", team: "a" });
});
