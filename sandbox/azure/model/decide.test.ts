import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decide, operationKindOf } from "./index.ts";
import {
  build,
  codeOf,
  frontend,
  internalFrontend,
  LB,
  lbBody,
  member,
  nicId,
  pipId,
  poolId,
  PUBLIC_IP,
  rule,
  SUBNET,
  azureWithLoadBalancer,
} from "./test-fixtures.ts";
import { GROUP, NETWORK, SUBSCRIPTION, TestAzure, azureWithGroup, type Wire } from "./test-azure.ts";

describe("the gateway refuses", () => {
  const azure = azureWithLoadBalancer({}, { subscriptions: [SUBSCRIPTION], regions: ["eastus"] });
  const cases: readonly (readonly [string, () => { status: number; body: Wire }, number, string])[] = [
    ["a missing api-version", () => azure.send("GET", LB, undefined, { query: {} }), 400, "MissingApiVersionParameter"],
    [
      "an api-version that is no date",
      () => azure.send("GET", LB, undefined, { query: { "api-version": "latest" } }),
      400,
      "InvalidApiVersionParameter",
    ],
    ["an unknown subscription", () => azure.get(LB.replace(SUBSCRIPTION, "other")), 404, "SubscriptionNotFound"],
    ["an absent group", () => azure.get(LB.replace("/rg/", "/nope/")), 404, "ResourceGroupNotFound"],
    ["an absent resource", () => azure.get(`${NETWORK}/loadBalancers/nope`), 404, "ResourceNotFound"],
    [
      "a child of an absent resource",
      () => azure.put(`${NETWORK}/loadBalancers/nope/backendAddressPools/p`, {}),
      404,
      "ParentResourceNotFound",
    ],
    ["an unknown type", () => azure.get(`${NETWORK}/teapots/one`), 404, "InvalidResourceType"],
    [
      "an unknown namespace",
      () => azure.get(`${GROUP}/providers/Microsoft.Tea/pots/one`),
      404,
      "InvalidResourceNamespace",
    ],
    ["a path without a subscription", () => azure.get("/elsewhere"), 404, "MissingSubscription"],
    ["a body without a location", () => azure.put(pipId("x"), {}), 400, "LocationRequired"],
    [
      "a region that is not there",
      () => azure.put(pipId("x"), { location: "mars" }),
      400,
      "LocationNotAvailableForResourceType",
    ],
    [
      "another location for what exists",
      () => azure.put(LB, { ...lbBody(), location: "westus" }),
      409,
      "InvalidResourceLocation",
    ],
    [
      "a PUT of a frontend alone",
      () => azure.put(`${LB}/frontendIPConfigurations/front`, {}),
      405,
      "HttpMethodNotAllowed",
    ],
  ];
  for (const [what, send, status, code] of cases) {
    test(what, () => {
      const answer = send();
      assert.deepEqual([answer.status, answer.body.error.code], [status, code]);
      assert.equal(answer.body.error.details, undefined);
    });
  }
});

describe("the network provider", () => {
  test("tells an absent child, with details", () => {
    const answer = azureWithLoadBalancer().get(poolId("nope"));
    assert.deepEqual(answer.body, {
      error: { code: "NotFound", message: `Resource ${poolId("nope")} not found.`, details: [] },
    });
    assert.equal(answer.headers["x-ms-failure-cause"], undefined);
  });

  test("tells a body that it cannot read", () => {
    const azure = azureWithLoadBalancer();
    for (const request of [{ malformed: true }, { body: [] }, { body: undefined }]) {
      const answer = azure.send("PUT", LB, undefined, request);
      assert.deepEqual(
        [answer.status, answer.body.error.code, codeOf(answer)],
        [400, "InvalidRequestFormat", "InvalidJson"],
      );
    }
    assert.equal(codeOf(azure.put(LB, { ...lbBody(), properties: { probes: {} } })), "InvalidJson");
  });
});

describe("what answers Updating", () => {
  const front = [frontend("front", "pip1")];
  const cases: readonly (readonly [string, () => Wire, "Updating" | "Succeeded"])[] = [
    ["a bare public load balancer", () => ({ frontends: front, pools: [] }), "Succeeded"],
    ["its first rule, on an empty pool", () => ({ rules: [rule("a")] }), "Succeeded"],
    ["an internal frontend", () => ({ frontends: [internalFrontend("front")] }), "Updating"],
    [
      "IP members",
      () => ({ pools: [{ name: "pool", properties: { loadBalancerBackendAddresses: [member("a", "10.0.0.1")] } }] }),
      "Updating",
    ],
  ];
  for (const [what, parts, state] of cases) {
    test(`${what}: ${state}`, () => {
      const answer = azureWithLoadBalancer().put(LB, lbBody(parts()));
      assert.equal(answer.body.properties.provisioningState, state);
      const children = Object.values(answer.body.properties).flatMap((value) => (Array.isArray(value) ? value : []));
      for (const child of children) assert.equal(child.properties.provisioningState, state);
    });
  }

  test("a change of rules that serve a pool: Updating; the same again: Succeeded", () => {
    const azure = azureWithLoadBalancer({ rules: [rule("a")] });
    const rules = [rule("a", { idleTimeoutInMinutes: 5 })];
    assert.equal(azure.put(LB, lbBody({ rules })).body.properties.provisioningState, "Updating");
    assert.equal(azure.put(LB, lbBody({ rules })).body.properties.provisioningState, "Succeeded");
  });
});

test("ids compare without case and come back canonical, the group as it was spelled at creation", () => {
  const azure = azureWithLoadBalancer();
  const answer = azure.get(LB.toUpperCase().replace("/SUBSCRIPTIONS/", "/subscriptions/"));
  assert.equal(answer.body.id, LB);
  const odd = NETWORK.replace("/rg/", "/RG/").replace("Microsoft.Network", "microsoft.network");
  assert.equal(
    azure.put(`${odd}/PUBLICIPADDRESSES/New`, PUBLIC_IP).body.id,
    `${NETWORK.replace("/rg/", "/RG/")}/publicIPAddresses/New`,
  );
});

test("location is normalised, and a whole object is as good a reference as its id", () => {
  const azure = azureWithLoadBalancer();
  const whole = azure.get(pipId("pip2")).body;
  const answer = azure.put(LB, {
    ...lbBody({ frontends: [{ name: "front", properties: { publicIPAddress: whole } }] }),
    location: "East US",
  });
  assert.equal(answer.body.location, "eastus");
  assert.deepEqual(answer.body.properties.frontendIPConfigurations[0].properties.publicIPAddress, {
    id: pipId("pip2"),
  });
});

test("PATCH sets tags and nothing else, at once", () => {
  const azure = azureWithLoadBalancer();
  const answer = azure.send("PATCH", LB, { tags: { owner: "me" }, properties: { probes: [{ name: "x" }] } });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers["azure-asyncoperation"], undefined);
  assert.deepEqual([answer.body.tags, answer.body.properties.probes], [{ owner: "me" }, []]);
  assert.deepEqual(azure.put(LB, lbBody()).body.tags, undefined, "a PUT replaces tags too");
});

describe("lists", () => {
  test("come in pages that survive what happens between them", () => {
    const azure = azureWithGroup({ pageSize: 2 });
    for (const name of ["a", "b", "c", "d"]) build(azure, [pipId(name), PUBLIC_IP]);
    const first = azure.get(`${NETWORK}/publicIPAddresses`);
    assert.deepEqual(
      first.body.value.map((item: Wire) => item.name),
      ["a", "b"],
    );
    azure.delete(pipId("a"));
    const second = azure.follow(first.body.nextLink);
    assert.deepEqual(
      second.body.value.map((item: Wire) => item.name),
      ["c", "d"],
    );
    assert.equal(second.body.nextLink, undefined);
    assert.equal(second.headers["etag"], undefined);
  });

  test("exist per group, per subscription and per parent; an empty one is empty", () => {
    const azure = azureWithLoadBalancer();
    const all = `/subscriptions/${SUBSCRIPTION}/providers/Microsoft.Network/loadBalancers`;
    for (const path of [`${NETWORK}/loadBalancers`, all])
      assert.deepEqual(
        azure.get(path).body.value.map((item: Wire) => item.id),
        [LB],
      );
    assert.deepEqual(
      azure.get(`${LB}/backendAddressPools`).body.value.map((item: Wire) => item.name),
      ["pool"],
    );
    assert.deepEqual(azure.get(`${NETWORK}/networkInterfaces`).body, { value: [] });
    assert.equal(azure.get(`/subscriptions/${SUBSCRIPTION}/resourcegroups`).body.value.length, 1);
  });
});

test("a field can be hidden from older api-versions", () => {
  const path = "properties.frontendIPConfigurations[].properties.news";
  const azure = azureWithLoadBalancer(
    {},
    { hiddenFields: [{ type: "Microsoft.Network/loadBalancers", path, since: "2026-01-01" }] },
  );
  const front = { name: "front", properties: { publicIPAddress: { id: pipId("pip1") }, news: 1 } };
  build(azure, [LB, lbBody({ frontends: [front] })]);
  const seen = (version: string) =>
    azure.get(LB, { "api-version": version }).body.properties.frontendIPConfigurations[0].properties.news;
  assert.equal(seen("2025-05-01"), undefined);
  assert.equal(seen("2026-01-01"), 1);
});

test("the kind of a call is told from the request", () => {
  const request = { method: "PUT", path: poolId("pool"), query: {}, headers: {}, nowMs: 0, baseUrl: "" } as const;
  const body = { properties: { loadBalancerBackendAddresses: [member("a", "10.0.0.1")] } };
  assert.deepEqual(operationKindOf({ ...request, body }), {
    type: "Microsoft.Network/loadBalancers/backendAddressPools",
    verb: "PUT",
    weight: 1,
    bare: false,
  });
  assert.equal(
    operationKindOf({ ...request, method: "GET", path: `${NETWORK}/loadBalancers`, body: undefined })?.verb,
    "LIST",
  );
  assert.equal(operationKindOf({ ...request, path: "/nowhere", body: undefined }), undefined);
});

test("deciding twice on one state gives the same answer, and alters nothing", () => {
  const azure = azureWithLoadBalancer();
  const request = {
    method: "PUT",
    path: nicId("nic"),
    query: { "api-version": "2025-05-01" },
    headers: {},
    nowMs: 1,
    baseUrl: "",
  } as const;
  const body = {
    location: "eastus",
    properties: { ipConfigurations: [{ name: "i", properties: { subnet: { id: SUBNET } } }] },
  };
  const ask = () => decide(azure.state, { ...request, body }, { ...new TestAzure().draws });
  assert.deepEqual(ask(), ask());
  assert.equal(azure.get(nicId("nic")).status, 404);
});

test("the providers are registered, and Compute knows its zones", () => {
  const azure = new TestAzure({ regions: ["westus2"] });
  const { body } = azure.get(`/subscriptions/${SUBSCRIPTION}/providers/Microsoft.Compute`);
  const machines = body.resourceTypes.find((item: Wire) => item.resourceType === "virtualMachines");
  assert.deepEqual(machines.zoneMappings, [{ location: "westus2", zones: ["1", "2", "3"] }]);
  assert.equal(
    azure.send("POST", `/subscriptions/${SUBSCRIPTION}/providers/Microsoft.Network/register`).body.registrationState,
    "Registered",
  );
});
