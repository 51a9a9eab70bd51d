/** Definitions and the objects they define: pruning, defaults, validation, rules over old and new, generation. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubeObject } from "../../support/kube-connection.ts";
import { type Api, type NamespacePaths, accepted, at, names, partly, refused } from "./api.ts";
import { WIDGETS, WIDGET_DEFINITION, conditionOf, defineWidgets, eventually, widget, widgetsIn } from "./widgets.ts";

export function customResources(api: Api): void {
  definitions(api);
  schemas(api);
  writes(api);
}

function definitions(api: Api): void {
  test("a definition is accepted, established, and its names filled in", async () => {
    await defineWidgets(api);
    await eventually(
      async () => conditionOf(await api.read(WIDGET_DEFINITION), "Established") === "True",
      "the definition is not established",
    );
    const definition = await api.read(WIDGET_DEFINITION);
    assert.equal(conditionOf(definition, "NamesAccepted"), "True");
    partly(definition, {
      metadata: { generation: 1 },
      spec: { names: { listKind: "WidgetList", singular: "widget" }, conversion: { strategy: "None" } },
      status: { acceptedNames: { plural: "widgets", kind: "Widget", shortNames: ["wg"] }, storedVersions: ["v1"] },
    });
  });

  test("its resource is discovered", async () => {
    await defineWidgets(api);
    const found = async (): Promise<unknown> =>
      ((await api.get("/apis/contract.example.com/v1")).body?.["resources"] as KubeObject[] | undefined)?.find(
        (resource) => resource["name"] === "widgets",
      );
    await eventually(async () => (await found()) !== undefined, "widgets are not discovered");
    partly(await found(), {
      name: "widgets",
      singularName: "widget",
      namespaced: true,
      kind: "Widget",
      shortNames: ["wg"],
      categories: ["contraptions"],
    });
  });

  test("a definition whose name is not plural.group, or without a schema, is refused", async () => {
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const version = { name: "v1", served: true, storage: true };
    const spec = {
      group: "contract.example.com",
      scope: "Namespaced",
      names: { plural: "gadgets", kind: "Gadget" },
      versions: [version],
    };
    refused(await api.post(path, { metadata: { name: "gadgets.elsewhere.example.com" }, spec }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueInvalid metadata.name"],
    });
    refused(await api.post(path, { metadata: { name: "gadgets.contract.example.com" }, spec }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueRequired spec.versions[0].schema.openAPIV3Schema"],
    });
  });
}

interface BadSpec {
  readonly what: string;
  readonly spec: object;
  readonly causes: readonly string[];
}

const BAD_SPECS: readonly BadSpec[] = [
  { what: "a required field left out", spec: {}, causes: ["FieldValueRequired spec.size"] },
  { what: "a number below its minimum", spec: { size: 0 }, causes: ["FieldValueInvalid spec.size"] },
  { what: "a number above its maximum", spec: { size: 11 }, causes: ["FieldValueInvalid spec.size"] },
  { what: "another type", spec: { size: "three" }, causes: ["FieldValueTypeInvalid spec.size"] },
  { what: "a fraction for an integer", spec: { size: 1.5 }, causes: ["FieldValueTypeInvalid spec.size"] },
  { what: "a value out of an enum", spec: { size: 2, colour: "blue" }, causes: ["FieldValueNotSupported spec.colour"] },
  { what: "a string too long", spec: { size: 2, label: "abcdef" }, causes: ["FieldValueTooLong spec.label"] },
  { what: "a string off its pattern", spec: { size: 2, label: "A" }, causes: ["FieldValueInvalid spec.label"] },
  { what: "a date that is none", spec: { size: 2, when: "today" }, causes: ["FieldValueTypeInvalid spec.when"] },
  {
    what: "too many elements",
    spec: { size: 2, parts: ["a", "b", "c", "d", "e", "f"].map((name) => ({ name })) },
    causes: ["FieldValueTooMany spec.parts"],
  },
  {
    what: "one key twice in a list map",
    spec: { size: 2, parts: [{ name: "a" }, { name: "a" }] },
    causes: ["FieldValueDuplicate spec.parts[1]"],
  },
  { what: "one value twice in a set", spec: { size: 2, set: ["a", "a"] }, causes: ["FieldValueDuplicate spec.set[1]"] },
  { what: "a rule that does not hold", spec: { size: 1, label: "a" }, causes: ["FieldValueInvalid spec"] },
  {
    what: "a rule that names its field and reason",
    spec: { size: 2, parts: [{ name: "a", weight: 3 }] },
    causes: ["FieldValueForbidden spec.parts"],
  },
];

function schemas(api: Api): void {
  for (const { what, spec, causes } of BAD_SPECS) {
    test(`refused: ${what}`, async () => {
      await defineWidgets(api);
      const { collection } = widgetsIn(await api.namespace(), "a");
      const reply = await api.post(collection, widget("a", spec));
      refused(reply, { code: 422, reason: "Invalid", causes, details: { kind: "Widget", name: "a" } });
    });
  }

  test("rules run after a value out of its bounds, but not after one that they could not stand on", async () => {
    await defineWidgets(api);
    const { collection } = widgetsIn(await api.namespace(), "a");
    const causes = async (spec: object): Promise<string[]> => {
      const { body } = await api.post(collection, widget("a", spec));
      return (at(body, "details.causes") as { reason: string; field: string }[]).map(
        ({ reason, field }) => `${reason} ${field}`,
      );
    };
    assert.deepEqual(await causes({ size: 0, label: "a" }), ["FieldValueInvalid spec.size", "FieldValueInvalid spec"]);
    const blocked = ["FieldValueNotSupported spec.colour", "FieldValueInvalid <nil>"];
    assert.deepEqual(await causes({ size: 1, label: "a", colour: "blue" }), blocked);
  });

  test("a rule's message is its own, computed where it says so", async () => {
    await defineWidgets(api);
    const { collection } = widgetsIn(await api.namespace(), "a");
    const plain = await api.post(collection, widget("a", { size: 1, label: "a" }));
    assert.match(String(at(plain.body, "details.causes.0.message")), /a label needs a size above 1$/);
    const computed = await api.post(collection, widget("a", { size: 2, parts: [{ name: "a", weight: 3 }] }));
    assert.match(String(at(computed.body, "details.causes.0.message")), /too heavy a part for a red widget$/);
  });

  test("defaults are filled in, in list elements too; unknown fields are pruned where they are not kept", async () => {
    await defineWidgets(api);
    const { collection } = widgetsIn(await api.namespace(), "a");
    const spec = {
      size: 2,
      parts: [{ name: "a" }, { name: "b", weight: 2, unknown: 1 }],
      unknown: true,
      free: { any: { thing: [1] } },
      tags: { a: "b" },
      either: "80%",
      optional: null,
    };
    const made = await api.create(collection, { ...widget("a", spec), top: 1 });
    assert.equal(made["top"], undefined);
    assert.deepEqual(made["spec"], {
      size: 2,
      colour: "red",
      parts: [
        { name: "a", weight: 1 },
        { name: "b", weight: 2 },
      ],
      free: { any: { thing: [1] } },
      tags: { a: "b" },
      either: "80%",
      optional: null,
    });
  });

  test("null takes the default where null is not allowed", async () => {
    await defineWidgets(api);
    const { collection, path } = widgetsIn(await api.namespace(), "a");
    await api.create(collection, widget("a", { size: 2, colour: null }));
    partly(await api.read(path), { spec: { colour: "red" } });
    accepted(await api.mergePatch(path, { spec: { colour: "green" } }));
    partly(accepted(await api.mergePatch(path, { spec: { colour: null } })), { spec: { colour: "red" } });
  });

  test("null is dropped where it is not allowed and has no default, but not from lists", async () => {
    await defineWidgets(api);
    const { collection, path } = widgetsIn(await api.namespace(), "a");
    const spec = { size: 2, label: null, parts: null, tags: { a: null, b: "c" }, free: { any: null } };
    const made = await api.create(collection, widget("a", spec));
    assert.deepEqual(made["spec"], { size: 2, colour: "red", tags: { b: "c" }, free: { any: null } });
    const status = { phase: null, observed: 1 };
    const { body } = await api.put(`${path}/status`, { ...made, status });
    assert.deepEqual(body["status"], { observed: 1 });
    refused(await api.post(collection, widget("b", { size: 2, set: [null] })), { code: 422, reason: "Invalid" });
    refused(await api.post(collection, widget("b", { size: null })), { code: 422, reason: "Invalid" });
  });

  test("strict field validation refuses what would be pruned", async () => {
    await defineWidgets(api);
    const { collection } = widgetsIn(await api.namespace(), "a");
    const reply = await api.post(`${collection}?fieldValidation=Strict`, widget("a", { size: 2, unknown: true }));
    refused(reply, { code: 400, reason: "BadRequest" });
  });

  test("a rule over oldSelf holds on update, not on create, and not while the field is absent", async () => {
    await defineWidgets(api);
    const { collection, path } = widgetsIn(await api.namespace(), "a");
    await api.create(collection, widget("a", { size: 2 }));
    accepted(await api.mergePatch(path, { spec: { fixed: "one" } }));
    refused(await api.mergePatch(path, { spec: { fixed: "two" } }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueInvalid spec.fixed"],
    });
    accepted(await api.mergePatch(path, { spec: { fixed: null } }));
    accepted(await api.mergePatch(path, { spec: { fixed: "two" } }));
  });
}

function writes(api: Api): void {
  test("generation counts changes of spec and the request to delete, and nothing else", async () => {
    const { path } = await made(api, { metadata: { name: "a", finalizers: ["held"] } });
    const generation = async (): Promise<number | undefined> => (await api.read(path)).metadata.generation;
    assert.equal(await generation(), 1);
    accepted(await api.mergePatch(path, { metadata: { labels: { x: "1" } } }));
    accepted(await api.mergePatch(`${path}/status`, { status: { phase: "Ready" } }));
    assert.equal(await generation(), 1);
    accepted(await api.mergePatch(path, { spec: { size: 3 } }));
    assert.equal(await generation(), 2);
    accepted(await api.delete(path));
    assert.equal(await generation(), 3);
    accepted(await api.mergePatch(path, { metadata: { finalizers: null } }));
    refused(await api.get(path), { code: 404, reason: "NotFound", details: { name: "a", kind: "widgets" } });
  });

  test("PUT needs the resourceVersion", async () => {
    const { path } = await made(api);
    refused(await api.put(path, widget("a", { size: 4 })), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueInvalid metadata.resourceVersion"],
    });
    const current = await api.read(path);
    partly(accepted(await api.put(path, { ...current, spec: { size: 4 } })), { spec: { size: 4 } });
    refused(await api.put(path, { ...current, spec: { size: 5 } }), { code: 409, reason: "Conflict" });
  });

  test("strategic merge is not for custom resources; merge and JSON patches are", async () => {
    const { path } = await made(api);
    refused(await api.strategicPatch(path, { spec: { size: 4 } }), { code: 415, reason: "UnsupportedMediaType" });
    const patched = await api.jsonPatch(path, [{ op: "replace", path: "/spec/size", value: 4 }]);
    partly(accepted(patched), { spec: { size: 4 } });
  });

  test("a deleted one is answered with a Status; a name may be any subdomain, a finalizer any word", async () => {
    const { path } = await made(api, { metadata: { name: "a.b-c", finalizers: [] } }, "a.b-c");
    partly(accepted(await api.delete(path)), { kind: "Status", status: "Success", details: { name: "a.b-c" } });
  });

  test("items of a list carry kind and apiVersion; a selectable field selects", async () => {
    const { ns, collection } = await made(api);
    await api.create(collection, widget("b", { size: 1, colour: "green" }));
    const list = await api.read(collection);
    partly(list, { kind: "WidgetList", apiVersion: "contract.example.com/v1" });
    for (const item of list["items"] as KubeObject[]) {
      partly(item, { kind: "Widget", apiVersion: "contract.example.com/v1" });
    }
    assert.deepEqual(names(await api.read(`${collection}?fieldSelector=spec.colour%3Dgreen`)), ["b"]);
    const everywhere = await api.read(`${WIDGETS}?fieldSelector=metadata.namespace%3D${ns.name}`);
    assert.deepEqual(names(everywhere), ["a", "b"]);
  });
}

async function made(
  api: Api,
  part: object = {},
  name = "a",
): Promise<{ ns: NamespacePaths; collection: string; path: string }> {
  await defineWidgets(api);
  const ns = await api.namespace();
  const paths = widgetsIn(ns, name);
  await api.create(paths.collection, { ...widget(name, { size: 2 }), ...part });
  return { ns, ...paths };
}
