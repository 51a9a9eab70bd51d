import assert from "node:assert/strict";
import { test } from "node:test";
import {
  poolDrainedEvent,
  stateFailedEvent,
  nodeStateEvent,
  poolText,
  serviceStateEvent,
} from "./admin-state-events.ts";

test("a Service hears of a few nodes by name and of the rest as a number", () => {
  const many = Array.from({ length: 12 }, (_, at) => `n${at}`);
  assert.match(
    serviceStateEvent("Down", many).message,
    /^12 nodes are going away: they get .* \(n0, n1, n2, n3, n4 and 7 more\)$/,
  );
  assert.equal(serviceStateEvent("None", ["n0"]).message, "Node n0 is back: it gets new connections again");
});

test("a Node hears why and where", () => {
  const pools = [poolText("kubernetes", "kubernetes"), poolText("kubernetes-internal", "kubernetes")];
  assert.equal(
    nodeStateEvent("Down", ["out-of-service", "spot-eviction"], pools).message,
    "Gets no new connections from load balancers any more (out-of-service, spot-eviction): admin state Down in load " +
      "balancer kubernetes, pool kubernetes and in load balancer kubernetes-internal, pool kubernetes",
  );
  assert.match(
    poolDrainedEvent(poolText("lb", "pool")).message,
    /^No node takes new connections in load balancer lb, pool pool: all are held Down/,
  );
});

test("a failure says what it means for the node", () => {
  assert.match(
    stateFailedEvent("Down", "pool", "Azure is away").message,
    /keeps getting new connections.*Azure is away/,
  );
  assert.match(stateFailedEvent("None", "pool", "").message, /stays without/);
});
