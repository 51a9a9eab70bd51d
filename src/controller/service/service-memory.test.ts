import assert from "node:assert/strict";
import { test } from "node:test";

import { projectService, type CachedService } from "../projections.ts";
import { ServiceMemory } from "./service-memory.ts";

function service(resourceVersion: string, uid = "u1"): CachedService {
  return projectService({ metadata: { name: "web", namespace: "default", uid, resourceVersion } });
}

test("what we wrote is used until the cache has caught up", () => {
  const memory = new ServiceMemory();
  const written = service("12");
  memory.wrote(written);
  assert.equal(memory.newest(service("9")), written);
  const caughtUp = service("12");
  assert.equal(memory.newest(caughtUp), caughtUp);
  const later = service("13");
  assert.equal(memory.newest(later), later);
});

test("versions are compared as numbers, however long", () => {
  const memory = new ServiceMemory();
  memory.wrote(service("10000000000000000001"));
  assert.equal(memory.newest(service("9")).metadata.resourceVersion, "10000000000000000001");
});

test("a Service made anew under the same name is another one", () => {
  const memory = new ServiceMemory();
  memory.wrote(service("12", "old"));
  const anew = service("11", "new");
  assert.equal(memory.newest(anew), anew);
});

test("versions that are no numbers are not compared: the cache is believed", () => {
  const memory = new ServiceMemory();
  memory.wrote(service("b"));
  const cached = service("a");
  assert.equal(memory.newest(cached), cached);
});
