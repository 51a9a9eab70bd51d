import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "../../../../test/support/laws.ts";
import { type ByOwner, byOwner } from "../../../../test/support/by-owner.ts";
import { anOwner } from "../../../../test/support/fragments.ts";
import type { PublicIP } from "../../model/arm.ts";
import { mergePublicIP as merge } from "./merge-public-ip.ts";
import type { PublicIPFragment } from "./fragment.ts";

const mergePublicIP = byOwner(merge, ({ owner }) => owner.key);

const ID = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network/publicIPAddresses/pip";
const CLUSTER = { "k8s-azure-cluster-name": "kubernetes" };
const NEW: PublicIP = { id: ID, name: "pip", tags: CLUSTER, properties: {} };

type Use = Extract<PublicIPFragment, { kind: "present" }>;

function use(name: string, more: Partial<Use> = {}): Use {
  return {
    kind: "present",
    owner: anOwner(name),
    family: "IPv4",
    create: NEW,
    sku: undefined,
    dnsLabel: undefined,
    tags: {},
    systemTags: [],
    ipTags: undefined,
    ...more,
  };
}

function release(name: string, keptBy?: string): PublicIPFragment {
  return { kind: "absent", owner: anOwner(name), keptBy };
}

function made(services: string, more: Partial<PublicIP> = {}): PublicIP {
  const { tags, properties = {}, ...rest } = more;
  return { id: ID, name: "pip", ...rest, tags: { ...CLUSTER, "k8s-azure-service": services, ...tags }, properties };
}

const byHand: PublicIP = {
  id: ID,
  name: "pip",
  tags: { team: "office" },
  sku: { name: "Standard" },
  properties: { ipAddress: "20.1.1.1" },
};

function bodyOf({ outcome, refused }: ByOwner<PublicIP>): PublicIP {
  assert.deepEqual(refused, []);
  return outcome.kind === "put" ? outcome.body : assert.fail(outcome.kind);
}

describe("Services and their tag", () => {
  test("a new one is made with the Services that use it", () => {
    const body = bodyOf(mergePublicIP(undefined, [use("b"), use("a")]));
    assert.deepEqual(body.tags, { ...CLUSTER, "k8s-azure-service": "default/a,default/b" });
  });

  test("a Service that joins is added, one that is listed changes nothing", () => {
    assert.equal(
      bodyOf(mergePublicIP(made("default/a"), [use("b")])).tags?.["k8s-azure-service"],
      "default/a,default/b",
    );
    assert.deepEqual(mergePublicIP(made("default/A, default/b"), [use("a"), use("b")]).outcome, { kind: "unchanged" });
  });

  test("of tags that several ask for the first of the list decides; the others add what is missing and prune nothing", () => {
    const first = use("a", { tags: { team: "blue" }, systemTags: ["k8s-"] });
    const second = use("b", { tags: { Team: "red", zone: "east" } });
    const body = bodyOf(mergePublicIP(made("default/a,default/b"), [use("a", { tags: { team: "blue" } }), second]));
    assert.deepEqual([body.tags?.["team"], body.tags?.["zone"]], ["blue", "east"]);
    assert.deepEqual(mergePublicIP(body, [second]).outcome, { kind: "unchanged" });
    const pruned = bodyOf(mergePublicIP(body, [first]));
    assert.equal(pruned.tags?.["zone"], undefined);
    const strict = use("b", { systemTags: ["k8s-"] });
    assert.deepEqual(mergePublicIP(pruned, [strict]).outcome, { kind: "unchanged" });
  });

  test("the older tag is read, and copied to the newer one with the next change", () => {
    const older = made("x", { tags: { "k8s-azure-service": undefined as never, service: "default/a" } });
    const seen = { ...older, tags: { service: "default/a" } };
    assert.deepEqual(mergePublicIP(seen, [use("a")]).outcome, { kind: "unchanged" });
    const body = bodyOf(mergePublicIP(seen, [use("b")]));
    assert.deepEqual(body.tags, { service: "default/a", "k8s-azure-service": "default/a,default/b" });
  });

  test("one that leaves is taken off; the last one takes the public IP along", () => {
    assert.equal(
      bodyOf(mergePublicIP(made("default/a,default/b"), [release("a")])).tags?.["k8s-azure-service"],
      "default/b",
    );
    assert.deepEqual(mergePublicIP(made("default/a"), [release("a")]).outcome, { kind: "delete" });
    assert.deepEqual(mergePublicIP(made("default/a"), [release("b")]).outcome, { kind: "unchanged" });
  });

  test("one leaves and another comes in one batch: it stays", () => {
    assert.equal(
      bodyOf(mergePublicIP(made("default/a"), [release("a"), use("b")])).tags?.["k8s-azure-service"],
      "default/b",
    );
  });

  test("what something else holds stays, with no Service listed and a warning", () => {
    const merged = mergePublicIP(made("default/a"), [release("a", 'frontend "office"')]);
    assert.equal(bodyOf(merged).tags?.["k8s-azure-service"], "");
    assert.match(merged.warnings[0]?.warning.message ?? "", /frontend "office" holds it/);
  });

  test("more Services than a tag can list are refused", () => {
    const long = "n".repeat(60);
    const seen = made([1, 2, 3].map((at) => `default/${long}${at}`).join(","));
    const { refused } = mergePublicIP(seen, [use(`${long}4`)]);
    assert.equal(refused[0]?.rejection.reason, "TooManyServices");
  });

  test("one that must exist and has gone: decide anew", () => {
    const { outcome, stale, refused } = mergePublicIP(undefined, [use("a", { create: undefined })]);
    assert.deepEqual(
      { outcome, stale, refused },
      { outcome: { kind: "unchanged" }, stale: ["default/a"], refused: [] },
    );
  });
});

describe("one that a person made", () => {
  test("is neither tagged nor deleted, nor given another SKU", () => {
    const wishes = use("a", { tags: { env: "prod" }, sku: "Standard", ipTags: [{ type: "x", value: "y" }] });
    assert.deepEqual(mergePublicIP({ ...byHand, sku: { name: "Basic" } }, [wishes]).outcome, { kind: "unchanged" });
    assert.deepEqual(mergePublicIP(byHand, [release("a")]).outcome, { kind: "unchanged" });
  });

  test("keeps its DNS label: another one, or none, is refused with key, value and fix", () => {
    const labelled = { ...byHand, properties: { ...byHand.properties, dnsSettings: { domainNameLabel: "finance" } } };
    for (const [seen, dnsLabel] of [
      [byHand, "web"],
      [labelled, "web"],
      [labelled, ""],
    ] as const) {
      const { outcome, refused } = mergePublicIP(seen, [use("a", { dnsLabel })]);
      assert.deepEqual(outcome, { kind: "unchanged" });
      assert.equal(refused[0]?.rejection.reason, "DNSLabelConflict");
      const message = new RegExp(`azure-dns-label-name: "${dnsLabel}".*public IP "pip".*: remove the annotation, or`);
      assert.match(refused[0]?.rejection.message ?? "", message);
    }
    for (const dnsLabel of ["finance", undefined]) {
      const { outcome, refused } = mergePublicIP(labelled, [use("a", { dnsLabel })]);
      assert.deepEqual([outcome, refused], [{ kind: "unchanged" }, []]);
    }
  });
});

describe("the DNS label", () => {
  const labelled = made("default/a,default/b", {
    tags: { "k8s-azure-dns-label-service": "default/a" },
    properties: { dnsSettings: { domainNameLabel: "web" } },
  });

  test("belongs to the Service that sets it", () => {
    const body = bodyOf(mergePublicIP(made("default/a"), [use("a", { dnsLabel: "web" })]));
    assert.equal(body.tags?.["k8s-azure-dns-label-service"], "default/a");
    assert.deepEqual(mergePublicIP(body, [use("a", { dnsLabel: "web" })]).outcome, { kind: "unchanged" });
  });

  test("another Service's other label is refused, the same label is not", () => {
    assert.equal(
      mergePublicIP(labelled, [use("b", { dnsLabel: "shop" })]).refused[0]?.rejection.reason,
      "DNSLabelConflict",
    );
    assert.deepEqual(mergePublicIP(labelled, [use("b", { dnsLabel: "web" })]).outcome, { kind: "unchanged" });
  });

  test("is left as it is where nothing is said, and goes where it is emptied", () => {
    assert.deepEqual(mergePublicIP(labelled, [use("a")]).outcome, { kind: "unchanged" });
    const body = bodyOf(mergePublicIP(labelled, [use("a", { dnsLabel: "" })]));
    assert.equal(body.properties.dnsSettings, undefined);
    assert.equal(body.tags?.["k8s-azure-dns-label-service"], undefined);
  });

  test("goes with its Service though the address stays", () => {
    const body = bodyOf(mergePublicIP(labelled, [release("a")]));
    assert.deepEqual(
      [body.properties.dnsSettings, body.tags],
      [undefined, { ...CLUSTER, "k8s-azure-service": "default/b" }],
    );
  });
});

describe("the tags that say whose it is", () => {
  const keys = [
    "K8S-AZURE-CLUSTER-NAME",
    "k8s-azure-service",
    "K8s-Azure-DNS-Label-Service",
    "Kubernetes-Cluster-Name",
  ];
  const tags = Object.fromEntries(keys.map((key) => [key, "zzz"]));

  test("are not for configs and annotations to say, in whatever case", () => {
    const body = bodyOf(mergePublicIP(undefined, [use("a", { tags: { ...tags, team: "x" } })]));
    assert.deepEqual(body.tags, { ...CLUSTER, "k8s-azure-service": "default/a", team: "x" });
    assert.deepEqual(mergePublicIP(body, [use("a", { tags })]).outcome, { kind: "unchanged" });
    assert.deepEqual(mergePublicIP(body, [release("a")]).outcome, { kind: "delete" });
  });

  test("are read and written in whatever case they are there", () => {
    const shouted: PublicIP = {
      ...NEW,
      tags: { "K8S-AZURE-CLUSTER-NAME": "kubernetes", "K8S-AZURE-SERVICE": "default/a" },
    };
    assert.deepEqual(mergePublicIP(shouted, [use("a")]).outcome, { kind: "unchanged" });
    assert.deepEqual(mergePublicIP(shouted, [release("a")]).outcome, { kind: "delete" });
    const body = bodyOf(mergePublicIP(shouted, [use("b", { dnsLabel: "web" })]));
    assert.deepEqual(body.tags, {
      "K8S-AZURE-CLUSTER-NAME": "kubernetes",
      "K8S-AZURE-SERVICE": "default/a,default/b",
      "k8s-azure-dns-label-service": "default/b",
    });
  });
});

describe("settings", () => {
  test("tags are added; with systemTags others go, but never those that say whose it is", () => {
    const seen = made("default/a", { tags: { stray: "1", "aks-x": "2" } });
    const body = bodyOf(mergePublicIP(seen, [use("a", { tags: { env: "prod" }, systemTags: ["aks-"] })]));
    assert.deepEqual(body.tags, { ...CLUSTER, "k8s-azure-service": "default/a", "aks-x": "2", env: "prod" });
  });

  test("SKU and IP tags of ours are put right", () => {
    const body = bodyOf(
      mergePublicIP(made("default/a"), [
        use("a", { sku: "Standard", ipTags: [{ type: "RoutingPreference", value: "Internet" }] }),
      ]),
    );
    assert.deepEqual(body.sku, { name: "Standard" });
    assert.deepEqual(body.properties.ipTags, [{ ipTagType: "RoutingPreference", tag: "Internet" }]);
  });
});

test("law: the order of the fragments does not matter, and once is enough", () => {
  const fragment = (name: string) =>
    fc.oneof(
      fc.record({ dnsLabel: fc.constantFrom(undefined, "", "web", "shop") }).map((more) => use(name, more)),
      fc.constantFrom(release(name), release(name, "a NAT gateway")),
    );
  const batch = fc.subarray(["a", "b", "c"], { minLength: 1 }).chain((names) => fc.tuple(...names.map(fragment)));
  const seen = fc.constantFrom(
    undefined,
    byHand,
    made("default/a"),
    made("default/b,default/c", { tags: { "k8s-azure-dns-label-service": "default/b" } }),
  );
  fc.assert(
    fc.property(seen, batch, (start, fragments) => {
      const merged = mergePublicIP(start, fragments);
      assert.deepEqual(mergePublicIP(start, fragments.toReversed()), merged);
      const after = merged.outcome.kind === "put" ? merged.outcome.body : start;
      if (merged.outcome.kind !== "delete" && after !== undefined) {
        assert.deepEqual(mergePublicIP(after, fragments).outcome, { kind: "unchanged" });
      }
    }),
    { numRuns: 300 },
  );
});
