import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CONFIG } from "../../../../test/support/core-fixtures.ts";
import { parsedLink } from "../../../../test/support/private-links.ts";
import type { PrivateLinkService } from "../../model/arm.ts";
import { loadBalancerId } from "../../model/ids.ts";
import type { Owner } from "../../outcome.ts";
import { desiredPrivateLinkService } from "./desired-private-link-service.ts";
import type { PrivateLinkServiceFragment } from "./fragment.ts";
import { mergePrivateLinkService } from "./merge-private-link-service.ts";

const LB = loadBalancerId(CONFIG, "kubernetes-internal");
const FRONT = { id: `${LB}/frontendIPConfigurations/front`, name: "front" };
const SECOND = { id: `${LB}/frontendIPConfigurations/second`, name: "second" };

function ownerOf(name: string): Owner {
  return { key: `default/${name}`, uid: name, base: name };
}

function fragmentOf(
  annotations: Record<string, string> = {},
  { owner = "web", frontend = FRONT, seen = [] as PrivateLinkService[] } = {},
): PrivateLinkServiceFragment {
  const desired = desiredPrivateLinkService({
    owner: ownerOf(owner),
    intent: parsedLink(annotations),
    config: CONFIG,
    frontend,
    privateLinkServices: new Map([["rg", seen]]),
    isAskedBy: () => false,
  });
  assert.ok(desired.kind === "own", JSON.stringify(desired));
  return desired.fragment;
}

function put(seen: PrivateLinkService | undefined, ...fragments: PrivateLinkServiceFragment[]): PrivateLinkService {
  const { outcome, answers } = mergePrivateLinkService(seen, fragments);
  assert.ok(outcome.kind === "put", JSON.stringify(answers));
  return outcome.body;
}

const MADE = put(undefined, fragmentOf());

describe("a private link service that is made", () => {
  test("stands on the frontend, with one address that Azure chooses, and says whose it is", () => {
    assert.equal(MADE.name, "pls-front");
    assert.deepEqual(MADE.tags, { "k8s-azure-cluster-name": "kubernetes", "k8s-azure-owner-service": "default/web" });
    assert.deepEqual(MADE.properties.loadBalancerFrontendIpConfigurations, [{ id: FRONT.id }]);
    assert.deepEqual(
      MADE.properties.ipConfigurations?.map(({ name, properties: { primary } }) => [name, primary]),
      [["subnet-pls-front-dynamic-0", true]],
    );
    assert.deepEqual([MADE.properties.visibility, MADE.properties.fqdns], [undefined, undefined]);
  });

  test("is right as it is", () => {
    assert.equal(mergePrivateLinkService(MADE, [fragmentOf()]).outcome.kind, "unchanged");
  });

  test("is made by the first of two Services that ask for its name, whatever their order", () => {
    const [one, other] = [
      fragmentOf({ "azure-pls-name": "x" }),
      fragmentOf({ "azure-pls-name": "x" }, { owner: "api", frontend: SECOND }),
    ];
    for (const fragments of [
      [one, other],
      [other, one],
    ]) {
      const { outcome, answers } = mergePrivateLinkService(undefined, fragments);
      assert.ok(outcome.kind === "put");
      assert.equal(outcome.body.tags?.["k8s-azure-owner-service"], "default/api");
      const refused = answers[fragments.indexOf(one)];
      assert.ok(refused?.kind === "refused");
      assert.match(
        refused.rejection.message,
        /azure-pls-name: private link service "x" belongs to Service default\/api/,
      );
    }
  });
});

describe("a change", () => {
  const connected = {
    ...MADE,
    tags: { ...MADE.tags, team: "net" },
    etag: "1",
    newField: 1,
    properties: { ...MADE.properties, privateEndpointConnections: [{ name: "pe", properties: {} }], newer: true },
  };

  test("keeps connections, foreign tags and unknown fields", () => {
    const body = put(connected, fragmentOf({ "azure-pls-fqdns": "a.example.com" }));
    assert.deepEqual(body, { ...connected, properties: { ...connected.properties, fqdns: ["a.example.com"] } });
  });

  test("of the order of names and subscriptions is none", () => {
    const one = "11111111-1111-4111-8111-111111111111";
    const two = "22222222-2222-4222-8222-222222222222";
    const asked = (first: string, second: string) =>
      fragmentOf({ "azure-pls-fqdns": `${first}.a ${second}.a`, "azure-pls-visibility": `${first} ${second}` });
    const body = put(undefined, asked(one, two));
    assert.equal(mergePrivateLinkService(body, [asked(two, one)]).outcome.kind, "unchanged");
    assert.deepEqual(body.properties.autoApproval, { subscriptions: [] }, "the two lists are written together");
  });

  test("of the addresses renames none that stay, and knows the primary one", () => {
    const asked = (addresses: string) =>
      fragmentOf({
        "azure-pls-ip-configuration-ip-address": addresses,
        "azure-pls-ip-configuration-ip-address-count": "3",
      });
    const before = put(MADE, asked("10.240.8.1 10.240.8.2"));
    const named = { ...before.properties.ipConfigurations?.[1], id: "kept" };
    const after = put(
      {
        ...before,
        properties: {
          ...before.properties,
          ipConfigurations: [
            before.properties.ipConfigurations![0]!,
            named as never,
            before.properties.ipConfigurations![2]!,
          ],
        },
      },
      asked("10.240.8.2 10.240.8.1"),
    );
    assert.deepEqual(
      after.properties.ipConfigurations?.map(({ name, id, properties: { primary } }) => [name, id, primary]),
      [
        ["subnet-pls-front-static-10.240.8.2", "kept", true],
        ["subnet-pls-front-static-10.240.8.1", undefined, false],
        ["subnet-pls-front-dynamic-0", undefined, false],
      ],
    );
  });

  test("moves it to another frontend of the same load balancer, with its connections", () => {
    const body = put(connected, fragmentOf({}, { frontend: SECOND, seen: [connected] }));
    assert.deepEqual(body.properties.loadBalancerFrontendIpConfigurations, [{ id: SECOND.id }]);
    assert.equal(body.properties.privateEndpointConnections?.length, 1);
  });

  test("writes one that failed once more", () => {
    const failed = { ...MADE, properties: { ...MADE.properties, provisioningState: "Failed" } };
    assert.deepEqual(put(failed, fragmentOf()), MADE);
  });

  test("touches none of another cluster, of another Service, or on another load balancer", () => {
    const fragment = fragmentOf({ "azure-pls-fqdns": "a.example.com" });
    const foreign = [
      [{ ...MADE, tags: {} }, "refused"],
      [{ ...MADE, tags: { ...MADE.tags, "k8s-azure-cluster-name": "other" } }, "refused"],
      [{ ...MADE, tags: { ...MADE.tags, "k8s-azure-owner-service": "default/api" } }, "refused"],
      [
        {
          ...MADE,
          properties: {
            ...MADE.properties,
            loadBalancerFrontendIpConfigurations: [{ id: `${LB}2/frontendIPConfigurations/f` }],
          },
        },
        "stale",
      ],
    ] as const;
    for (const [seen, answer] of foreign) {
      const merged = mergePrivateLinkService(seen, [fragment]);
      assert.equal(merged.outcome.kind, "unchanged");
      assert.equal(merged.answers[0]?.kind, answer);
    }
  });
});

describe("one whose frontend goes", () => {
  const absent: PrivateLinkServiceFragment = {
    kind: "absent",
    owner: ownerOf("web"),
    clusterName: "kubernetes",
    frontends: new Set([FRONT.id.toLowerCase()]),
  };

  test("goes, but not while it has connections, nor where it is not the cluster's", () => {
    assert.equal(mergePrivateLinkService(MADE, [absent]).outcome.kind, "delete");
    const connected = {
      ...MADE,
      properties: { ...MADE.properties, privateEndpointConnections: [{ name: "pe", properties: {} }] },
    };
    for (const seen of [connected, { ...MADE, tags: {} }]) {
      const { outcome, answers } = mergePrivateLinkService(seen, [absent]);
      assert.deepEqual([outcome.kind, answers[0]?.kind], ["unchanged", "stale"]);
    }
    assert.equal(mergePrivateLinkService(undefined, [absent]).outcome.kind, "unchanged");
  });

  test("stays on its other frontends", () => {
    const both = [{ id: FRONT.id }, { id: SECOND.id }];
    const seen = { ...MADE, properties: { ...MADE.properties, loadBalancerFrontendIpConfigurations: both } };
    assert.deepEqual(put(seen, absent).properties.loadBalancerFrontendIpConfigurations, [{ id: SECOND.id }]);
  });

  test("is handed over to a Service that stays, and only by its owner", () => {
    const handed: PrivateLinkServiceFragment = {
      kind: "handedOver",
      owner: ownerOf("web"),
      clusterName: "kubernetes",
      to: "default/api",
    };
    assert.equal(put(MADE, handed).tags?.["k8s-azure-owner-service"], "default/api");
    assert.equal(mergePrivateLinkService(put(MADE, handed), [handed]).outcome.kind, "unchanged");
  });
});
