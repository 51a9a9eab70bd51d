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
  azureWithLoadBalancer,
} from "./test-fixtures.ts";
import { COMPUTE, type TestAzure } from "./test-azure.ts";

const etag = (azure: TestAzure, id = LB): string => azure.get(id).body.etag;

test("one ETag covers a load balancer with all its children, in body and header", () => {
  const azure = azureWithLoadBalancer({ rules: [rule("a")] });
  const current = etag(azure);
  assert.match(current, /^W\/"[0-9a-f-]{36}"$/);
  for (const id of [LB, POOL, `${LB}/frontendIPConfigurations/front`, `${LB}/loadBalancingRules/a`]) {
    assert.equal(azure.get(id).body.etag, current);
    assert.equal(azure.get(id).headers["etag"], current);
  }
  assert.equal(azure.put(POOL, {}).headers["etag"], undefined, "a PUT sends it in the body only");
});

test("it changes twice with an asynchronous PUT, once with a synchronous one, not at all when nothing changes", () => {
  const azure = azureWithLoadBalancer();
  const before = etag(azure);
  const pool = azure.put(POOL, { properties: { loadBalancerBackendAddresses: [member("a", "10.0.0.1")] } });
  assert.equal(pool.body.properties.provisioningState, "Updating");
  assert.equal(new Set([before, pool.body.etag, etag(azure)]).size, 3);
  const settled = etag(azure);
  assert.equal(
    azure.put(POOL, { properties: { loadBalancerBackendAddresses: [member("a", "10.0.0.1")] } }).body.etag,
    settled,
  );

  const bare = azureWithLoadBalancer();
  const answer = bare.put(LB, lbBody({ frontends: [frontend("front", "pip2")] }));
  assert.equal(answer.body.etag, etag(bare));
});

test("it changes with back-references: a NIC that joins, an address that is taken", () => {
  const azure = azureWithLoadBalancer();
  const [lb, pip, vnet] = [etag(azure), etag(azure, pipId("pip1")), etag(azure, VNET)];
  build(azure, [nicId("nic"), nicBody([POOL])]);
  assert.notEqual(etag(azure), lb);
  assert.notEqual(etag(azure, VNET), vnet);
  build(azure, [LB, lbBody({ frontends: [frontend("front", "pip2")] })]);
  assert.notEqual(etag(azure, pipId("pip1")), pip);
});

test("If-Match guards a write, and reads leniently", () => {
  const azure = azureWithLoadBalancer();
  const current = etag(azure);
  const refused = azure.put(LB, lbBody(), { "if-match": "invalid" });
  assert.equal(refused.status, 412);
  assert.deepEqual(refused.body.error.code, "PreconditionFailed");
  assert.equal(codeOf(refused), "PreconditionFailedEtagMismatch");
  assert.equal(
    refused.body.error.details[0].message,
    `Etag provided in if-match header W/"invalid" does not match etag ${current} of resource ${LB} in NRP data store.`,
  );
  assert.equal(azure.put(LB, lbBody(), { "if-match": current.replace(/^W\/|"/g, "") }).status, 200);
  assert.equal(azure.put(POOL, {}, { "if-match": current }).status, 200);
  assert.equal(azure.put(LB, lbBody(), { "if-none-match": "*" }).status, 412);
  assert.equal(
    azure.put(`${LB}2`, lbBody({ frontends: [frontend("front", "pip2")] }), { "if-match": "*" }).status,
    412,
  );
});

test("Compute counts writes alone, and its 412 has no details", () => {
  const azure = azureWithLoadBalancer();
  const vm = `${COMPUTE}/virtualMachines/vm`;
  assert.equal(azure.put(vm, { location: "eastus", properties: {} }).headers["etag"], '"1"');
  const refused = azure.put(vm, { location: "eastus" }, { "if-match": "invalid" });
  assert.deepEqual(refused.body, {
    error: {
      code: "PreconditionFailed",
      message: 'Etag provided in if-match header "invalid" does not match etag "1" of resource.',
    },
  });
});
