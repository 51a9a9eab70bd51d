import assert from "node:assert/strict";
import { test } from "node:test";

import { describeFailure } from "./failure-text.ts";
import {
  ArmError,
  type ArmFailure,
  failureOfOperation,
  failureOfResponse,
  isGroupMissing,
  retryAfterMsOf,
  transient,
} from "./failures.ts";

const NOW = Date.UTC(2026, 0, 1);
const PIP = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPAddresses/p";
const LB = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/loadBalancers/l";

interface Said {
  readonly code: string;
  readonly message?: string;
  readonly details?: readonly unknown[];
  readonly [more: string]: unknown;
}

function answer(status: number, error: Said | undefined, headers: Record<string, string> = {}): ArmFailure {
  return failureOfResponse({ status, headers, body: error === undefined ? "" : JSON.stringify({ error }) }, NOW);
}

const TABLE: readonly (readonly [string, ArmFailure, ArmFailure["kind"]])[] = [
  ["an absent resource", answer(404, { code: "ResourceNotFound" }), "notFound"],
  ["an absent part of a resource", answer(404, { code: "NotFound", details: [] }), "notFound"],
  [
    "a changed resource",
    answer(412, { code: "PreconditionFailed", details: [{ code: "PreconditionFailedEtagMismatch" }] }),
    "conflict",
  ],
  [
    "a lock by another operation",
    answer(429, { code: "RetryableError", details: [{ code: "RetryableErrorDueToAnotherOperation" }] }),
    "busy",
  ],
  ["an operation in progress", answer(409, { code: "AnotherOperationInProgress" }), "busy"],
  ["a conflict without a code that we know", answer(409, { code: "Conflict" }), "busy"],
  ["a plain 429", answer(429, undefined), "throttled"],
  ["ARM's throttle", answer(429, { code: "SubscriptionRequestsThrottled" }), "throttled"],
  [
    "compute's throttle",
    answer(429, { code: "OperationNotAllowed", details: [{ code: "TooManyRequests" }] }),
    "throttled",
  ],
  ["a scale set that is busy", answer(409, { code: "OperationNotAllowed" }), "busy"],
  ["a refusal", answer(400, { code: "RulesUseSameBackendPortProtocolAndPool" }), "invalid"],
  [
    "a refusal that mentions something absent",
    answer(400, { code: "InvalidRequest", details: [{ code: "NotFound" }] }),
    "invalid",
  ],
  ["another region", answer(409, { code: "InvalidResourceLocation" }), "invalid"],
  ["a limit", answer(400, { code: "PublicIPCountLimitReached" }), "quota"],
  ["a limit per NIC", answer(400, { code: "LoadBalancerRuleCountLimitReachedForNic" }), "quota"],
  ["something that is held", answer(400, { code: "PublicIPAddressCannotBeDeleted" }), "inUse"],
  ["a group that is held", answer(400, { code: "InUseNetworkSecurityGroupCannotBeDeleted" }), "inUse"],
  ["a management lock", answer(409, { code: "ScopeLocked" }), "locked"],
  ["a missing role", answer(403, { code: "AuthorizationFailed" }), "denied"],
  ["a bad token", answer(401, { code: "InvalidAuthenticationToken" }), "unauthenticated"],
  ["a server error", answer(503, undefined), "transient"],
  ["a request timeout", answer(408, undefined), "transient"],
];

for (const [name, failure, kind] of TABLE) {
  test(`${name} is ${kind}`, () => assert.equal(failure.kind, kind));
}

test("keys in capitals are read all the same", () => {
  const body = JSON.stringify({ Error: { Code: "X", Details: [{ Code: "GatewayError", Message: "Bad gateway" }] } });
  const failure = failureOfResponse({ status: 429, headers: {}, body }, NOW);
  assert.deepEqual([failure.kind, failure.code], ["transient", "GatewayError"]);
});

test("a missing group, parent or subscription is told from a missing resource", () => {
  const missing = (code: string): unknown => {
    const failure = answer(404, { code });
    return failure.kind === "notFound" && failure.missing;
  };
  assert.deepEqual(
    ["ResourceNotFound", "ParentResourceNotFound", "ResourceGroupNotFound", "SubscriptionNotFound"].map(missing),
    ["resource", "parent", "resourceGroup", "subscription"],
  );
});

test("nothing but a 404 of the group itself means that the group does not exist", () => {
  const isMissing = (status: number, code: string): boolean =>
    isGroupMissing(new ArmError(answer(status, { code }), "listing public IPs"));
  assert.ok(isMissing(404, "ResourceGroupNotFound"));
  assert.ok(!isMissing(404, "ResourceNotFound"));
  assert.ok(!isMissing(404, "SubscriptionNotFound"));
  assert.ok(!isMissing(403, "AuthorizationFailed"));
  assert.ok(!isMissing(503, "ServiceUnavailable"));
  assert.ok(!isGroupMissing(new Error("ResourceGroupNotFound")));
});

test("an operation that a newer one cancelled is superseded, one that was just cancelled is not", () => {
  const superseded = failureOfOperation(
    {
      status: "Canceled",
      error: {
        code: "Canceled",
        message: "Operation was canceled.",
        details: [{ code: "CanceledAndSupersededDueToAnotherOperation", message: "…" }],
      },
    },
    undefined,
  );
  assert.equal(superseded.kind, "superseded");
  assert.equal(failureOfOperation({ status: "Canceled" }, undefined).kind, "busy");
});

test("an operation that failed without an HTTP status is judged by its codes", () => {
  const kindOf = (code: string): string =>
    failureOfOperation({ status: "Failed", error: { code, message: "m", details: [] } }, undefined).kind;
  assert.deepEqual(["SecurityRuleConflict", "InternalServerError", "AnotherOperationInProgress"].map(kindOf), [
    "invalid",
    "transient",
    "busy",
  ]);
});

test("a reference that isn't ready names what it waits for", () => {
  const failure = answer(429, {
    code: "RetryableError",
    message: "A retryable error occurred.",
    details: [
      {
        code: "ReferencedResourceNotProvisioned",
        message: `Cannot proceed with operation because resource ${PIP} used by resource ${LB} is not in Succeeded state. Resource is in Failed state.`,
      },
    ],
  });
  assert.ok(failure.kind === "notProvisioned");
  assert.equal(failure.referencedId, PIP);
});

test("what holds a resource is named", () => {
  const failure = answer(400, {
    code: "PublicIPAddressCannotBeDeleted",
    message: `Public IP address ${PIP} can not be deleted since it is still allocated to resource ${LB}/frontendIPConfigurations/f.`,
  });
  assert.ok(failure.kind === "inUse");
  assert.equal(failure.heldBy, `${LB}/frontendIPConfigurations/f`);
});

test("a missing permission names action and scope, also the linked one", () => {
  const plain = answer(403, {
    code: "AuthorizationFailed",
    message: `The client 'c' with object id 'o' does not have authorization to perform action 'Microsoft.Network/loadBalancers/write' over scope '${LB}' or the scope is invalid.`,
  });
  const linked = answer(403, {
    code: "LinkedAuthorizationFailed",
    message: `The client has permission to perform action 'Microsoft.Network/loadBalancers/write' on scope '${LB}', however the current tenant is not authorized to perform action(s) 'Microsoft.Network/publicIPAddresses/join/action' on the linked scope(s) '${PIP}'.`,
  });
  assert.ok(plain.kind === "denied" && linked.kind === "denied");
  assert.deepEqual([plain.action, plain.scope], ["Microsoft.Network/loadBalancers/write", LB]);
  assert.deepEqual([linked.action, linked.scope], ["Microsoft.Network/publicIPAddresses/join/action", PIP]);
  const text = describeFailure(linked, "writing load balancer l");
  assert.match(text, /no permission for Microsoft\.Network\/publicIPAddresses\/join\/action on \S+\/p\. Assign a role/);
});

test("Retry-After is read in all three spellings", () => {
  assert.equal(retryAfterMsOf({ "retry-after": "7" }, NOW), 7000);
  assert.equal(retryAfterMsOf({ "x-ms-retry-after-ms": "250", "retry-after": "7" }, NOW), 250);
  assert.equal(retryAfterMsOf({ "retry-after": new Date(NOW + 3000).toUTCString() }, NOW), 3000);
  assert.equal(retryAfterMsOf({ "retry-after": new Date(NOW - 3000).toUTCString() }, NOW), 0);
  assert.equal(retryAfterMsOf({ "retry-after": "soon" }, NOW), undefined);
  assert.equal(retryAfterMsOf({}, NOW), undefined);
});

test("every failure reads as a sentence with a fix where there is one", () => {
  for (const [, failure] of TABLE) {
    assert.match(describeFailure(failure, "writing x"), /^writing x: \S.*\S$/);
  }
  assert.match(
    describeFailure(answer(400, { code: "DnsRecordInUse", message: "taken" }), "writing x"),
    /azure-dns-label-name/,
  );
  assert.match(describeFailure(transient("cut", true), "reading x"), /did not answer properly/);
});
