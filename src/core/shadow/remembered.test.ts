import assert from "node:assert/strict";
import { test } from "node:test";

import { aService } from "../../../test/support/core-fixtures.ts";
import { FINALIZER } from "../intent/ownership.ts";
import type { Service } from "../model/kubernetes.ts";
import { APPLIED_ANNOTATION } from "../service/applied-state.ts";
import { asRemembered, remember } from "./remembered.ts";

const NONE = new Map<string, never>();
const published = (service: Service, ip: string): Service => {
  const metadata = { ...service.metadata, finalizers: [FINALIZER] };
  return { ...service, metadata, status: { loadBalancer: { ingress: [{ ip }] } } };
};
const web = aService();

test("what the incumbent writes on a Service meanwhile does not count", () => {
  const before = remember([published(web, "20.0.0.1")], NONE, NONE);
  const [seen] = asRemembered([published(web, "20.0.0.2")], before);
  assert.deepEqual(seen?.status.loadBalancer.ingress, [{ ip: "20.0.0.1" }]);
});

test("a Service that is new has neither finalizer nor address, whatever it has by now", () => {
  const [seen] = asRemembered([published(web, "20.0.0.2")], NONE);
  assert.deepEqual([seen?.metadata.finalizers, seen?.status.loadBalancer], [undefined, {}]);
});

test("a Service that the incumbent let go is being deleted; one that had no finalizer is gone", () => {
  const [seen] = asRemembered([], remember([published(web, "20.0.0.1")], NONE, NONE));
  assert.ok(seen?.metadata.deletionTimestamp !== undefined);
  assert.deepEqual(asRemembered([], remember([web], NONE, NONE)), []);
});

test("the mark that azlb would have set stays until another takes its place", () => {
  const key = `${web.metadata.namespace ?? "default"}/${web.metadata.name}`;
  const marked = remember([web], new Map([[key, { kind: "settled", warnings: [], applied: "one" } as const]]), NONE);
  const markOf = (service: Service | undefined): unknown => service?.metadata.annotations?.[APPLIED_ANNOTATION];
  assert.equal(markOf(asRemembered([web], marked)[0]), "one");
  const later = remember([web], new Map([[key, { kind: "wait", why: "" } as const]]), marked);
  assert.equal(markOf(asRemembered([web], later)[0]), "one");
});
