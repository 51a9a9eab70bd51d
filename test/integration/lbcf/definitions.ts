/**
 * LBCF's definitions as a real API server takes them: LBCF users' manifests apply unchanged, deprecated spellings
 * included, and what cannot be meant is refused with the field and a reason.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { parseAllDocuments } from "yaml";

import { readDefinitions } from "../../../src/main/lbcf-definitions.ts";
import type { Cluster, ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import type { Reply } from "../../support/kube-connection.ts";
import { BAD, byName, GOOD, pods } from "./definition-cases.ts";

const GROUP = "/apis/lbcf.tkestack.io";
export const PATHS: Readonly<Record<string, string>> = {
  LoadBalancerDriver: `${GROUP}/v1beta1/namespaces/default/loadbalancerdrivers`,
  LoadBalancer: `${GROUP}/v1beta1/namespaces/default/loadbalancers`,
  BackendGroup: `${GROUP}/v1beta1/namespaces/default/backendgroups`,
  BackendRecord: `${GROUP}/v1beta1/namespaces/default/backendrecords`,
  Bind: `${GROUP}/v1/namespaces/default/binds`,
};

type Kind = keyof typeof PATHS;

export async function installDefinitions(cluster: Cluster): Promise<void> {
  for (const definition of readDefinitions()) {
    const reply = await cluster.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      body: definition,
    });
    assert.ok(reply.code === 201 || reply.code === 409, reply.text);
  }
  await definitionsServed(cluster);
}

export async function definitionsServed(cluster: Cluster): Promise<void> {
  for (const path of Object.values(PATHS)) {
    await eventually(async () => assert.equal((await cluster.request("GET", path)).code, 200), 30_000);
  }
}

interface Explained {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Explained>>;
  readonly items?: Explained;
}

/** The fields of spec and status that say nothing, by their paths. */
function unexplained(schema: Explained, path: string): readonly string[] {
  const inItems = schema.items === undefined ? [] : unexplained(schema.items, `${path}[]`);
  const fields = Object.entries(schema.properties ?? {}).filter(([field]) => field !== "metadata");
  return [
    ...inItems,
    ...fields.flatMap(([field, each]) => [
      ...((each.description ?? "") === "" ? [`${path}.${field}`] : []),
      ...unexplained(each, `${path}.${field}`),
    ]),
  ];
}

export function lbcfDefinitions(name: string, open: ClusterOpener): void {
  describe(`LBCF's definitions on ${name}`, () => {
    let cluster: Cluster;
    let made = 0;

    before(async () => {
      cluster = await open();
      await installDefinitions(cluster);
    });

    after(() => cluster.close());

    const create = (kind: Kind, spec: object): Promise<Reply> => {
      const metadata = { name: `object-${++made}` };
      const apiVersion = kind === "Bind" ? "lbcf.tkestack.io/v1" : "lbcf.tkestack.io/v1beta1";
      const query = "?fieldValidation=Strict";
      return cluster.request("POST", `${PATHS[kind]}${query}`, { body: { apiVersion, kind, metadata, spec } });
    };

    const update = async (kind: Kind, object: Reply["body"], spec: object): Promise<Reply> => {
      const body = { ...object, spec };
      return cluster.request("PUT", `${PATHS[kind]}/${object.metadata.name}`, { body });
    };

    for (const [kind, what, spec] of GOOD) {
      test(`${kind}: ${what} is taken`, async () => {
        const reply = await create(kind, spec);
        assert.equal(reply.code, 201, reply.text);
      });
    }

    for (const [kind, what, spec, field] of BAD) {
      test(`${kind}: ${what} is refused`, async () => {
        const reply = await create(kind, spec);
        assert.equal(reply.code, 422, reply.text);
        assert.match(reply.text, field);
      });
    }

    test("the example's manifests are taken as they are", async () => {
      const folder = join(import.meta.dirname, "../../../examples/lbcf");
      for (const file of readdirSync(folder).filter((each) => each.endsWith(".yaml"))) {
        for (const document of parseAllDocuments(readFileSync(join(folder, file), "utf8"))) {
          const manifest = document.toJS() as { kind: Kind };
          const path = PATHS[manifest.kind] ?? "/api/v1/namespaces/default/pods";
          const reply = await cluster.request("POST", `${path}?fieldValidation=Strict`, { body: manifest });
          assert.equal(reply.code, 201, reply.text);
        }
      }
    });

    test("kubectl explain has a word on every field", async () => {
      for (const version of ["v1beta1", "v1"]) {
        const { body } = await cluster.request("GET", `/openapi/v3/apis/lbcf.tkestack.io/${version}`);
        const { schemas } = body["components"] as { schemas: Readonly<Record<string, Explained>> };
        const kinds = Object.keys(PATHS).filter((kind) => (kind === "Bind") === (version === "v1"));
        for (const kind of kinds) {
          const schema = Object.entries(schemas).find(([key]) => key.endsWith(`.${kind}`))?.[1];
          assert.ok(schema, `${kind} in ${Object.keys(schemas).join()}`);
          assert.deepEqual(unexplained(schema, kind), []);
        }
      }
    });

    test("defaults are filled in", async () => {
      const { body } = await create("BackendGroup", pods({ ensurePolicy: {} }));
      const spec = body["spec"] as Record<string, unknown>;
      assert.equal(spec["deregisterPolicy"], "IfNotReady");
      assert.deepEqual(spec["ensurePolicy"], { policy: "IfNotSucc" });
      assert.deepEqual((spec["pods"] as Record<string, unknown>)["ports"], [{ port: 80, protocol: "TCP" }]);
    });

    test("a Bind gets no deregisterPolicy: LBCF refuses one that has any of its words", async () => {
      const [, , given] = GOOD.find(([, what]) => what === "a Bind without policies") ?? assert.fail();
      const { body } = await create("Bind", given);
      assert.equal((body["spec"] as Record<string, unknown>)["deregisterPolicy"], undefined);
    });

    const FIXED: readonly (readonly [Kind, string, object, object, RegExp])[] = [
      ["LoadBalancer", "lbDriver", { lbDriver: "a" }, { lbDriver: "b" }, /lbDriver cannot be changed/],
      [
        "LoadBalancer",
        "lbSpec",
        { lbDriver: "a", lbSpec: { a: "1" } },
        { lbDriver: "a", lbSpec: { a: "2" } },
        /lbSpec/,
      ],
      ["BackendGroup", "the type", { lbName: "a", static: ["1"] }, pods({}), /cannot be changed/],
    ];

    for (const [kind, what, first, second, message] of FIXED) {
      test(`${kind}: ${what} cannot be changed`, async () => {
        const { body } = await create(kind, first);
        const reply = await update(kind, body, second);
        assert.equal(reply.code, 422, reply.text);
        assert.match(reply.text, message);
      });
    }

    const CHANGES: readonly (readonly [Kind, string, object, object])[] = [
      [
        "LoadBalancerDriver",
        "url, where the driver has moved",
        { driverType: "Webhook", url: "http://a" },
        { driverType: "Webhook", url: "http://b" },
      ],
      ["BackendGroup", "static, to none", { lbName: "a", static: ["1"] }, { lbName: "a" }],
      ["BackendGroup", "static, from none", { lbName: "a" }, { lbName: "a", static: ["1"] }],
      ["BackendGroup", "byName, to none", byName("a"), byName()],
    ];

    for (const [kind, what, first, second] of CHANGES) {
      test(`${kind}: ${what} can be changed`, async () => {
        const { body } = await create(kind, first);
        const reply = await update(kind, body, second);
        assert.equal(reply.code, 200, reply.text);
      });
    }

    test("a Bind's load balancer cannot turn into another, but can leave", async () => {
      const one = { name: "one", driver: "d", spec: { id: "1" } };
      const rest = { pods: { ports: [{ port: 80, protocol: "TCP" }], byName: ["a"] } };
      const { body } = await create("Bind", { loadBalancers: [one, { ...one, name: "two" }], ...rest });
      const changed = await update("Bind", body, { loadBalancers: [{ ...one, spec: { id: "2" } }], ...rest });
      assert.equal(changed.code, 422, changed.text);
      const left = await update("Bind", body, { loadBalancers: [one], ...rest });
      assert.equal(left.code, 200, left.text);
    });

    test("attributes, parameters and policies can be changed", async () => {
      const { body } = await create("LoadBalancer", { lbDriver: "a", lbSpec: { a: "1" }, attributes: { x: "1" } });
      const spec = { lbDriver: "a", lbSpec: { a: "1" }, attributes: { x: "2" }, ensurePolicy: { policy: "Always" } };
      assert.equal((await update("LoadBalancer", body, spec)).code, 200);
    });
  });
}
