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
  azureWithLoadBalancer,
} from "./test-fixtures.ts";
import { GROUP, NETWORK, azureWithGroup, type Answer, type TestAzure } from "./test-azure.ts";

const ADDRESSES = { properties: { loadBalancerBackendAddresses: [member("a", "10.0.0.1")] } };

function poll(azure: TestAzure, answer: Answer): Answer {
  return azure.follow(answer.headers["azure-asyncoperation"] ?? "");
}

/** Makes operations take ten seconds. */
function slow(azure: TestAzure): TestAzure {
  azure.tailMs = 10_000;
  azure.retryAfterSeconds = 10;
  return azure;
}

describe("an operation", () => {
  test("runs until its time, with Retry-After on the way, and ends Succeeded", () => {
    const azure = slow(azureWithGroup());
    const answer = azure.put(pipId("pip"), PUBLIC_IP);
    assert.equal(answer.status, 201);
    assert.equal(answer.body.properties.provisioningState, "Updating");
    assert.equal(answer.body.properties.ipAddress, undefined, "the address comes with success");
    const id = answer.headers["x-ms-request-id"];
    assert.match(
      answer.headers["azure-asyncoperation"] ?? "",
      new RegExp(`^https://arm.test/subscriptions/.*/locations/eastus/operations/${id}\\?api-version=`),
    );
    assert.deepEqual(poll(azure, answer).body, { status: "InProgress" });
    assert.equal(poll(azure, answer).headers["retry-after"], "10");
    assert.equal(nextSettleAtMs(azure.state), azure.nowMs + 10_000);
    azure.nowMs += 10_000;
    assert.deepEqual(poll(azure, answer).body, { status: "Succeeded" });
    assert.match(azure.get(pipId("pip")).body.properties.ipAddress, /^203\.0\.113\./);
    assert.equal(nextSettleAtMs(azure.state), undefined);
  });

  test("of a bare load balancer has ended with the answer", () => {
    const azure = slow(azureWithLoadBalancer());
    const answer = azure.put(LB, lbBody({ frontends: [frontend("front", "pip2")] }));
    assert.equal(answer.body.properties.provisioningState, "Succeeded");
    assert.deepEqual(poll(azure, answer).body, { status: "Succeeded" });
    assert.equal(answer.headers["retry-after"], undefined);
  });

  test("that deletes shows Deleting, answers 202 at its Location, then the resource is gone", () => {
    const azure = azureWithLoadBalancer();
    slow(azure);
    const answer = azure.delete(LB);
    assert.equal(answer.status, 202);
    assert.equal(answer.body, undefined);
    assert.equal(azure.get(LB).body.properties.provisioningState, "Deleting");
    assert.equal(azure.follow(answer.headers["location"] ?? "").status, 202);
    assert.deepEqual(azure.delete(LB), answer, "asked again, it is the same operation");
    assert.equal(codeOf(azure.put(LB, lbBody())), "RetryableErrorDueToAnotherOperation");
    azure.nowMs += 10_000;
    assert.equal(azure.follow(answer.headers["location"] ?? "").status, 204);
    assert.equal(codeOf(azure.get(LB)), "ResourceNotFound");
    assert.equal(azure.delete(LB).status, 204);
  });

  test("can be fated to fail: the content stays, the state is Failed, and a PUT repairs it", () => {
    const azure = azureWithLoadBalancer();
    azure.fate = { status: "Failed", code: "InternalServerError", message: "An error occurred." };
    const answer = azure.put(LB, lbBody({ rules: [rule("a")] }));
    azure.fate = undefined;
    assert.equal(answer.body.properties.provisioningState, "Updating");
    assert.deepEqual(poll(azure, answer).body, {
      status: "Failed",
      error: { code: "InternalServerError", message: "An error occurred.", details: [] },
    });
    assert.equal(azure.get(LB).body.properties.provisioningState, "Failed");
    assert.equal(azure.get(LB).body.properties.loadBalancingRules.length, 1);
    assert.equal(codeOf(azure.put(POOL, {})), "ParentResourceIsInFailedState");
    azure.put(LB, lbBody({ rules: [rule("a")] }));
    assert.equal(azure.get(LB).body.properties.provisioningState, "Succeeded");
  });

  test("can be ended badly while it runs", () => {
    const azure = slow(azureWithGroup());
    const answer = azure.put(pipId("pip"), PUBLIC_IP);
    const fate = { status: "Canceled", code: "Canceled", message: "Operation was canceled." } as const;
    apply(azure.state, endOperation(azure.state, answer.headers["x-ms-request-id"] ?? "", fate, azure.nowMs));
    assert.equal(poll(azure, answer).body.status, "Canceled");
    assert.equal(azure.get(pipId("pip")).body.properties.provisioningState, "Canceled");
  });

  test("is forgotten some time after it ended", () => {
    const azure = azureWithGroup();
    const answer = azure.put(pipId("pip"), PUBLIC_IP);
    assert.equal(poll(azure, answer).status, 200);
    azure.nowMs += azure.state.options.operationRetentionMs + 1;
    assert.equal(poll(azure, answer).status, 404);
  });
});

describe("a write that meets a running operation", () => {
  test("on a load balancer or its pool supersedes it", () => {
    const azure = azureWithLoadBalancer();
    slow(azure);
    const older = azure.put(POOL, ADDRESSES);
    const newer = azure.put(LB, lbBody({ rules: [rule("a")] }));
    const { status, error } = poll(azure, older).body;
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
    azure.nowMs += 10_000;
    assert.equal(poll(azure, newer).body.status, "Succeeded");
    assert.equal(azure.get(LB).body.properties.provisioningState, "Succeeded");
  });

  test("on anything else of the network is told to come back", () => {
    const azure = slow(azureWithGroup());
    azure.put(pipId("pip"), PUBLIC_IP);
    azure.nowMs += 1_500;
    const answer = azure.put(pipId("pip"), { ...PUBLIC_IP, tags: { a: "b" } });
    assert.equal(answer.status, 429);
    assert.equal(answer.body.error.code, "RetryableError");
    assert.equal(codeOf(answer), "RetryableErrorDueToAnotherOperation");
    assert.match(answer.body.error.details[0].message, /can be retried in 9 seconds\.$/);
    assert.equal(answer.headers["retry-after"], "9");
  });

  test("through a NIC that joins the same load balancer has to wait", () => {
    const azure = azureWithLoadBalancer();
    build(azure, [nicId("nic1"), nicBody()], [nicId("nic2"), nicBody()]);
    slow(azure);
    assert.equal(azure.put(nicId("nic1"), nicBody([POOL])).body.properties.provisioningState, "Updating");
    assert.equal(codeOf(azure.put(nicId("nic2"), nicBody([POOL]))), "RetryableErrorDueToAnotherOperation");
    assert.equal(codeOf(azure.put(LB, lbBody({ rules: [rule("a")] }))), "RetryableErrorDueToAnotherOperation");
  });

  test("on a virtual network is refused with the running operation's address", () => {
    const azure = slow(azureWithGroup());
    azure.put(VNET, VIRTUAL_NETWORK);
    const answer = azure.put(`${VNET}/subnets/more`, { properties: { addressPrefix: "10.0.9.0/24" } });
    assert.equal(answer.status, 409);
    assert.equal(codeOf(answer), "AnotherOperationInProgress");
    assert.match(answer.body.error.message, /https:\/\/arm\.test\/.*\/operations\//);
  });

  test("that refers to what is not ready is told which, in what state, by which operation", () => {
    const azure = azureWithLoadBalancer();
    slow(azure);
    azure.put(pipId("late"), PUBLIC_IP);
    const answer = azure.put(LB, lbBody({ frontends: [frontend("front", "late")] }));
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
    const azure = azureWithLoadBalancer();
    slow(azure);
    const answer = azure.delete(GROUP);
    assert.equal(answer.status, 202);
    assert.equal(answer.headers["azure-asyncoperation"], undefined);
    for (const [path, body] of [
      [pipId("new"), PUBLIC_IP],
      [GROUP, { location: "eastus" }],
    ] as const) {
      assert.equal(codeOf(azure.put(path, body)), "ResourceGroupBeingDeleted");
    }
    assert.deepEqual(azure.delete(GROUP), answer, "asked again, it is the same operation");
    assert.equal(azure.follow(answer.headers["location"] ?? "").status, 202);
    azure.nowMs += 10_000;
    const done = azure.follow(answer.headers["location"] ?? "");
    assert.deepEqual([done.status, done.body], [200, undefined]);
    assert.equal(codeOf(azure.get(`${NETWORK}/loadBalancers`)), "ResourceGroupNotFound");
    assert.equal(azure.state.resources.size, 0);
  });

  test("stays while something outside needs something inside", () => {
    const azure = azureWithLoadBalancer();
    const other = GROUP.replace(/rg$/, "other");
    build(
      azure,
      [other, { location: "eastus" }],
      [`${other}/providers/Microsoft.Network/networkInterfaces/nic`, nicBody([POOL])],
    );
    const answer = azure.delete(GROUP);
    const outcome = azure.follow(answer.headers["location"] ?? "");
    assert.equal(outcome.status, 409);
    assert.equal(codeOf(outcome), "ResourceGroupDeletionBlocked");
    assert.equal(azure.get(GROUP).body.properties.provisioningState, "Succeeded");
  });

  test("answers HEAD, and a second PUT with 200", () => {
    const azure = azureWithGroup();
    assert.equal(azure.send("HEAD", GROUP).status, 204);
    assert.equal(azure.send("HEAD", `${GROUP}x`).status, 404);
    assert.equal(azure.put(GROUP.replace("resourceGroups", "resourcegroups"), { location: "eastus" }).status, 200);
  });
});
