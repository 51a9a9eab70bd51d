import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { endOperation, apply, nextSettleAtMs } from "./index.ts";
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
  PUBLIC_IP,
  rule,
  VIRTUAL_NETWORK,
  VNET,
  worldWithLoadBalancer,
} from "./test-fixtures.ts";
import { GROUP, NETWORK, worldWithGroup, type Answer, type World } from "./test-world.ts";

const ADDRESSES = { properties: { loadBalancerBackendAddresses: [member("a", "10.0.0.1")] } };

function poll(world: World, answer: Answer): Answer {
  return world.follow(answer.headers["azure-asyncoperation"] ?? "");
}

/** A world whose operations take ten seconds. */
function slow(world: World): World {
  world.tailMs = 10_000;
  world.retryAfterSeconds = 10;
  return world;
}

describe("an operation", () => {
  test("runs until its time, with Retry-After on the way, and ends Succeeded", () => {
    const world = slow(worldWithGroup());
    const answer = world.put(pipId("pip"), PUBLIC_IP);
    assert.equal(answer.status, 201);
    assert.equal(answer.body.properties.provisioningState, "Updating");
    assert.equal(answer.body.properties.ipAddress, undefined, "the address comes with success");
    const id = answer.headers["x-ms-request-id"];
    assert.match(
      answer.headers["azure-asyncoperation"] ?? "",
      new RegExp(`^https://arm.test/subscriptions/.*/locations/eastus/operations/${id}\\?api-version=`),
    );
    assert.deepEqual(poll(world, answer).body, { status: "InProgress" });
    assert.equal(poll(world, answer).headers["retry-after"], "10");
    assert.equal(nextSettleAtMs(world.state), world.nowMs + 10_000);
    world.nowMs += 10_000;
    assert.deepEqual(poll(world, answer).body, { status: "Succeeded" });
    assert.match(world.get(pipId("pip")).body.properties.ipAddress, /^20\./);
    assert.equal(nextSettleAtMs(world.state), undefined);
  });

  test("of a bare load balancer has ended with the answer", () => {
    const world = slow(worldWithLoadBalancer());
    const answer = world.put(LB, lbBody({ frontends: [frontend("front", "pip2")] }));
    assert.equal(answer.body.properties.provisioningState, "Succeeded");
    assert.deepEqual(poll(world, answer).body, { status: "Succeeded" });
    assert.equal(answer.headers["retry-after"], undefined);
  });

  test("that deletes shows Deleting, answers 202 at its Location, then the resource is gone", () => {
    const world = worldWithLoadBalancer();
    slow(world);
    const answer = world.delete(LB);
    assert.equal(answer.status, 202);
    assert.equal(answer.body, undefined);
    assert.equal(world.get(LB).body.properties.provisioningState, "Deleting");
    assert.equal(world.follow(answer.headers["location"] ?? "").status, 202);
    assert.deepEqual(world.delete(LB), answer, "asked again, it is the same operation");
    assert.equal(codeOf(world.put(LB, lbBody())), "RetryableErrorDueToAnotherOperation");
    world.nowMs += 10_000;
    assert.equal(world.follow(answer.headers["location"] ?? "").status, 204);
    assert.equal(codeOf(world.get(LB)), "ResourceNotFound");
    assert.equal(world.delete(LB).status, 204);
  });

  test("can be fated to fail: the content stays, the state is Failed, and a PUT repairs it", () => {
    const world = worldWithLoadBalancer();
    world.fate = { status: "Failed", code: "InternalServerError", message: "An error occurred." };
    const answer = world.put(LB, lbBody({ rules: [rule("a")] }));
    world.fate = undefined;
    assert.equal(answer.body.properties.provisioningState, "Updating");
    assert.deepEqual(poll(world, answer).body, {
      status: "Failed",
      error: { code: "InternalServerError", message: "An error occurred.", details: [] },
    });
    assert.equal(world.get(LB).body.properties.provisioningState, "Failed");
    assert.equal(world.get(LB).body.properties.loadBalancingRules.length, 1);
    assert.equal(codeOf(world.put(POOL, {})), "ParentResourceIsInFailedState");
    world.put(LB, lbBody({ rules: [rule("a")] }));
    assert.equal(world.get(LB).body.properties.provisioningState, "Succeeded");
  });

  test("can be ended badly while it runs", () => {
    const world = slow(worldWithGroup());
    const answer = world.put(pipId("pip"), PUBLIC_IP);
    const fate = { status: "Canceled", code: "Canceled", message: "Operation was canceled." } as const;
    apply(world.state, endOperation(world.state, answer.headers["x-ms-request-id"] ?? "", fate, world.nowMs));
    assert.equal(poll(world, answer).body.status, "Canceled");
    assert.equal(world.get(pipId("pip")).body.properties.provisioningState, "Canceled");
  });

  test("is forgotten some time after it ended", () => {
    const world = worldWithGroup();
    const answer = world.put(pipId("pip"), PUBLIC_IP);
    assert.equal(poll(world, answer).status, 200);
    world.nowMs += world.state.options.operationRetentionMs + 1;
    assert.equal(poll(world, answer).status, 404);
  });
});

describe("a write that meets a running operation", () => {
  test("on a load balancer or its pool supersedes it", () => {
    const world = worldWithLoadBalancer();
    slow(world);
    const older = world.put(POOL, ADDRESSES);
    const newer = world.put(LB, lbBody({ rules: [rule("a")] }));
    const { status, error } = poll(world, older).body;
    assert.equal(status, "Canceled");
    assert.deepEqual([error.code, error.message], ["Canceled", "Operation was canceled."]);
    assert.equal(error.details[0].code, "CanceledAndSupersededDueToAnotherOperation");
    for (const part of [
      "PutLoadBalancerBackendAddressPoolOperation",
      "PutLoadBalancerOperation",
      newer.headers["x-ms-request-id"] ?? "?",
    ]) {
      assert.ok(error.details[0].message.includes(part), part);
    }
    world.nowMs += 10_000;
    assert.equal(poll(world, newer).body.status, "Succeeded");
    assert.equal(world.get(LB).body.properties.provisioningState, "Succeeded");
  });

  test("on anything else of the network is told to come back", () => {
    const world = slow(worldWithGroup());
    world.put(pipId("pip"), PUBLIC_IP);
    world.nowMs += 1_500;
    const answer = world.put(pipId("pip"), { ...PUBLIC_IP, tags: { a: "b" } });
    assert.equal(answer.status, 429);
    assert.equal(answer.body.error.code, "RetryableError");
    assert.equal(codeOf(answer), "RetryableErrorDueToAnotherOperation");
    assert.match(answer.body.error.details[0].message, /can be retried in 9 seconds\.$/);
    assert.equal(answer.headers["retry-after"], "9");
  });

  test("through a NIC that joins the same load balancer has to wait", () => {
    const world = worldWithLoadBalancer();
    build(world, [nicId("nic1"), nicBody()], [nicId("nic2"), nicBody()]);
    slow(world);
    assert.equal(world.put(nicId("nic1"), nicBody([POOL])).body.properties.provisioningState, "Updating");
    assert.equal(codeOf(world.put(nicId("nic2"), nicBody([POOL]))), "RetryableErrorDueToAnotherOperation");
    assert.equal(codeOf(world.put(LB, lbBody({ rules: [rule("a")] }))), "RetryableErrorDueToAnotherOperation");
  });

  test("on a virtual network is refused with the running operation's address", () => {
    const world = slow(worldWithGroup());
    world.put(VNET, VIRTUAL_NETWORK);
    const answer = world.put(`${VNET}/subnets/more`, { properties: { addressPrefix: "10.0.9.0/24" } });
    assert.equal(answer.status, 409);
    assert.equal(codeOf(answer), "AnotherOperationInProgress");
    assert.match(answer.body.error.message, /https:\/\/arm\.test\/.*\/operations\//);
  });

  test("that refers to what is not ready is told which, in what state, by which operation", () => {
    const world = worldWithLoadBalancer();
    slow(world);
    world.put(pipId("late"), PUBLIC_IP);
    const answer = world.put(LB, lbBody({ frontends: [frontend("front", "late")] }));
    assert.equal(answer.status, 429);
    assert.equal(codeOf(answer), "ReferencedResourceNotProvisioned");
    for (const part of [
      pipId("late"),
      `${LB}/frontendIPConfigurations/front`,
      "Updating",
      "PutPublicIpAddressOperation",
    ]) {
      assert.ok(answer.body.error.details[0].message.includes(part), part);
    }
  });
});

describe("a resource group", () => {
  test("is deleted with all that it holds, by Location alone", () => {
    const world = worldWithLoadBalancer();
    slow(world);
    const answer = world.delete(GROUP);
    assert.equal(answer.status, 202);
    assert.equal(answer.headers["azure-asyncoperation"], undefined);
    for (const [path, body] of [
      [pipId("new"), PUBLIC_IP],
      [GROUP, { location: "eastus" }],
    ] as const) {
      assert.equal(codeOf(world.put(path, body)), "ResourceGroupBeingDeleted");
    }
    assert.deepEqual(world.delete(GROUP), answer, "asked again, it is the same operation");
    assert.equal(world.follow(answer.headers["location"] ?? "").status, 202);
    world.nowMs += 10_000;
    const done = world.follow(answer.headers["location"] ?? "");
    assert.deepEqual([done.status, done.body], [200, undefined]);
    assert.equal(codeOf(world.get(`${NETWORK}/loadBalancers`)), "ResourceGroupNotFound");
    assert.equal(world.state.resources.size, 0);
  });

  test("stays while something outside needs something inside", () => {
    const world = worldWithLoadBalancer();
    const other = GROUP.replace(/rg$/, "other");
    build(
      world,
      [other, { location: "eastus" }],
      [`${other}/providers/Microsoft.Network/networkInterfaces/nic`, nicBody([POOL])],
    );
    const answer = world.delete(GROUP);
    const outcome = world.follow(answer.headers["location"] ?? "");
    assert.equal(outcome.status, 409);
    assert.equal(codeOf(outcome), "ResourceGroupDeletionBlocked");
    assert.equal(world.get(GROUP).body.properties.provisioningState, "Succeeded");
  });

  test("answers HEAD, and a second PUT with 200", () => {
    const world = worldWithGroup();
    assert.equal(world.send("HEAD", GROUP).status, 204);
    assert.equal(world.send("HEAD", `${GROUP}x`).status, 404);
    assert.equal(world.put(GROUP.replace("resourceGroups", "resourcegroups"), { location: "eastus" }).status, 200);
  });
});
