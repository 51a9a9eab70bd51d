import assert from "node:assert/strict";
import { test } from "node:test";
import {
  build,
  codeOf,
  frontend,
  LB,
  lbBody,
  member,
  nicBody,
  nicId,
  pipId,
  POOL,
  rule,
  VNET,
  worldWithLoadBalancer,
} from "./test-fixtures.ts";
import { COMPUTE, type World } from "./test-world.ts";

const etag = (world: World, id = LB): string => world.get(id).body.etag;

test("one ETag covers a load balancer with all its children, in body and header", () => {
  const world = worldWithLoadBalancer({ rules: [rule("a")] });
  const current = etag(world);
  assert.match(current, /^W\/"[0-9a-f-]{36}"$/);
  for (const id of [LB, POOL, `${LB}/frontendIPConfigurations/front`, `${LB}/loadBalancingRules/a`]) {
    assert.equal(world.get(id).body.etag, current);
    assert.equal(world.get(id).headers["etag"], current);
  }
  assert.equal(world.put(POOL, {}).headers["etag"], undefined, "a PUT sends it in the body only");
});

test("it changes twice with an asynchronous PUT, once with a synchronous one, not at all when nothing changes", () => {
  const world = worldWithLoadBalancer();
  const before = etag(world);
  const pool = world.put(POOL, { properties: { loadBalancerBackendAddresses: [member("a", "10.0.0.1")] } });
  assert.equal(pool.body.properties.provisioningState, "Updating");
  assert.equal(new Set([before, pool.body.etag, etag(world)]).size, 3);
  const settled = etag(world);
  assert.equal(
    world.put(POOL, { properties: { loadBalancerBackendAddresses: [member("a", "10.0.0.1")] } }).body.etag,
    settled,
  );

  const bare = worldWithLoadBalancer();
  const answer = bare.put(LB, lbBody({ frontends: [frontend("front", "pip2")] }));
  assert.equal(answer.body.etag, etag(bare));
});

test("it changes with back-references: a NIC that joins, an address that is taken", () => {
  const world = worldWithLoadBalancer();
  const [lb, pip, vnet] = [etag(world), etag(world, pipId("pip1")), etag(world, VNET)];
  build(world, [nicId("nic"), nicBody([POOL])]);
  assert.notEqual(etag(world), lb);
  assert.notEqual(etag(world, VNET), vnet);
  build(world, [LB, lbBody({ frontends: [frontend("front", "pip2")] })]);
  assert.notEqual(etag(world, pipId("pip1")), pip);
});

test("If-Match guards a write, and reads leniently", () => {
  const world = worldWithLoadBalancer();
  const current = etag(world);
  const refused = world.put(LB, lbBody(), { "if-match": "invalid" });
  assert.equal(refused.status, 412);
  assert.deepEqual(refused.body.error.code, "PreconditionFailed");
  assert.equal(codeOf(refused), "PreconditionFailedEtagMismatch");
  assert.equal(
    refused.body.error.details[0].message,
    `Etag provided in if-match header W/"invalid" does not match etag ${current} of resource ${LB} in NRP data store.`,
  );
  assert.equal(world.put(LB, lbBody(), { "if-match": current.replace(/^W\/|"/g, "") }).status, 200);
  assert.equal(world.put(POOL, {}, { "if-match": current }).status, 200);
  assert.equal(world.put(LB, lbBody(), { "if-none-match": "*" }).status, 412);
  assert.equal(
    world.put(`${LB}2`, lbBody({ frontends: [frontend("front", "pip2")] }), { "if-match": "*" }).status,
    412,
  );
});

test("Compute counts writes alone, and its 412 has no details", () => {
  const world = worldWithLoadBalancer();
  const vm = `${COMPUTE}/virtualMachines/vm`;
  assert.equal(world.put(vm, { location: "eastus", properties: {} }).headers["etag"], '"1"');
  const refused = world.put(vm, { location: "eastus" }, { "if-match": "invalid" });
  assert.deepEqual(refused.body, {
    error: {
      code: "PreconditionFailed",
      message: 'Etag provided in if-match header "invalid" does not match etag "1" of resource.',
    },
  });
});
