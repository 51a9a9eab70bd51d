import assert from "node:assert/strict";
import { test } from "node:test";
import type { Service } from "../model/kubernetes.ts";
import { CLASS_ANNOTATION, countsForOthers, FINALIZER, needsCleanup, ownerOf, wantsLoadBalancer } from "./ownership.ts";

interface Shape {
  readonly type?: string;
  readonly class?: string;
  readonly deleting?: boolean;
  readonly held?: boolean;
  readonly annotation?: string;
}

function service(shape: Shape): Service {
  return {
    metadata: {
      name: "web",
      namespace: "shop",
      uid: "01234567-89ab-cdef-0123-456789abcdef",
      ...(shape.deleting ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
      finalizers: shape.held ? [FINALIZER] : [],
      annotations: shape.annotation === undefined ? {} : { [CLASS_ANNOTATION]: shape.annotation },
    },
    spec: {
      type: shape.type ?? "LoadBalancer",
      ports: [],
      ...(shape.class === undefined ? {} : { loadBalancerClass: shape.class }),
    },
    status: { loadBalancer: {} },
  };
}

/** Sentence, Service, class that we serve, wanted, to be cleaned up. */
const cases: readonly (readonly [string, Shape, string | undefined, boolean, boolean])[] = [
  ["a Service without a class is wanted by default", {}, undefined, true, false],
  ["one with a class is another controller's by default", { class: "x" }, undefined, false, false],
  ["with a class of our own only that class is ours", { class: "x" }, "x", true, false],
  ["and those without one are not", {}, "x", false, false],
  ["another type is not wanted", { type: "ClusterIP" }, undefined, false, false],
  ["a deleting one that is held is cleaned up", { deleting: true, held: true }, undefined, false, true],
  ["a deleting one without a finalizer has nothing of ours", { deleting: true }, undefined, false, false],
  ["another controller's is not cleaned up", { class: "x", deleting: true, held: true }, undefined, false, false],
  ["one that changed its type is cleaned up", { type: "ClusterIP", held: true }, undefined, false, true],
  ["by the controller of the class it had", { type: "ClusterIP", held: true, annotation: "x" }, "x", false, true],
  ["and not by the one without", { type: "ClusterIP", held: true, annotation: "x" }, undefined, false, false],
  ["nor by that of another class", { type: "ClusterIP", held: true, annotation: "x" }, "y", false, false],
];
for (const [sentence, shape, classFilter, isWanted, isCleanedUp] of cases) {
  test(sentence, () => {
    assert.equal(wantsLoadBalancer(service(shape), classFilter), isWanted);
    assert.equal(needsCleanup(service(shape), classFilter), isCleanedUp);
  });
}

test("where Services meet, those count that we or another controller of this kind serve", () => {
  assert.equal(countsForOthers(service({}), undefined), true);
  assert.equal(countsForOthers(service({ class: "x", held: true }), undefined), true);
  assert.equal(countsForOthers(service({ held: true }), "x"), true);
  assert.equal(countsForOthers(service({ class: "x" }), undefined), false, "another controller serves it");
  assert.equal(countsForOthers(service({ class: "x", held: true, deleting: true }), undefined), false);
  assert.equal(countsForOthers(service({ held: true, type: "ClusterIP" }), undefined), false);
});

test("an owner is named by namespace, UID and base", () => {
  assert.deepEqual(ownerOf(service({})), {
    key: "shop/web",
    uid: "01234567-89ab-cdef-0123-456789abcdef",
    base: "a0123456789abcdef0123456789abcde",
  });
});
