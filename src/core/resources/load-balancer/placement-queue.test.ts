/** Services that are yet to be placed take room oldest first; what was worked out for one list is used for the next, and changes no answer. */
import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { aService, CONFIG } from "../../../../test/support/core-fixtures.ts";
import { parseService } from "../../intent/parse-service.ts";
import type { Service } from "../../model/kubernetes.ts";
import { PlacementQueue } from "./placement-queue.ts";

/** What a Service sees before itself: who came, with what it asks for. */
type Room = readonly string[];

const LABELS = ["gold", "silver"] as const;
const SERVICES: readonly Service[] = Array.from({ length: 6 }, (_, at) => {
  const service = aService({ name: `s${at}` });
  const creationTimestamp = `2026-01-01T00:00:0${at % 3}Z`;
  return { ...service, metadata: { ...service.metadata, uid: `uid-${at}`, creationTimestamp } };
});

function queue(): PlacementQueue<Room> {
  return new PlacementQueue<Room>({
    config: CONFIG,
    loadBalancers: [],
    taken: (scope) => [scope],
    withOne: (room, { service, intent }) => [...room, `${intent.owner.uid} ${service.metadata.labels?.["tier"] ?? ""}`],
  });
}

function seenBy(each: PlacementQueue<Room>, services: readonly Service[]): (Room | undefined)[] {
  return services.map((service) => {
    const parsed = parseService(service, CONFIG);
    assert.ok("intent" in parsed);
    return each.takenBefore(services, service, parsed.intent);
  });
}

test("each counts those that are older, of its own kind", () => {
  const [first, second, third] = SERVICES;
  assert.ok(first && second && third);
  assert.deepEqual(seenBy(queue(), [third, first, second]), [
    ["external", "uid-0 ", "uid-1 "],
    undefined,
    ["external", "uid-0 "],
  ]);
});

test("law: a list that was asked about before changes no answer for the next", () => {
  const changed = fc.record({
    at: fc.nat({ max: SERVICES.length - 1 }),
    tier: fc.option(fc.constantFrom(...LABELS), { nil: undefined }),
    isServed: fc.boolean(),
    isInternal: fc.boolean(),
    isDeleting: fc.boolean(),
  });
  const anyList = fc.uniqueArray(changed, { selector: ({ at }) => at, maxLength: SERVICES.length });
  fc.assert(
    fc.property(fc.array(anyList, { minLength: 2, maxLength: 6 }), (lists) => {
      const asked = queue();
      for (const list of lists) {
        const services = list.flatMap(({ at, tier, isServed, isInternal, isDeleting }) => {
          const service = SERVICES[at];
          if (service === undefined) return [];
          const annotations = { "service.beta.kubernetes.io/azure-load-balancer-internal": String(isInternal) };
          const deletion = isDeleting ? { deletionTimestamp: "2026-01-02T00:00:00Z" } : {};
          const labels = tier === undefined ? {} : { labels: { tier } };
          const status = { loadBalancer: isServed ? { ingress: [{ ip: "20.0.0.1" }] } : {} };
          return [{ ...service, metadata: { ...service.metadata, annotations, ...labels, ...deletion }, status }];
        });
        assert.deepEqual(seenBy(asked, services), seenBy(queue(), services));
      }
    }),
  );
});
