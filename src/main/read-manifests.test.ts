import assert from "node:assert/strict";
import { test } from "node:test";

import { projectService } from "../controller/projections.ts";
import { applyManifests } from "./apply-manifests.ts";
import { parseManifests } from "./read-manifests.ts";

const SERVICE =
  "apiVersion: v1\nkind: Service\nmetadata: { name: NAME }\nspec: { type: LoadBalancer, ports: [{ port: 80 }] }\n";
const named = (name: string): string => SERVICE.replace("NAME", name);

test("Services of all documents and Lists; other objects are left out", () => {
  const list = `kind: List\nitems:\n- { kind: Service, metadata: { name: c, namespace: other } }\n`;
  const text = [named("a"), "kind: Deployment\nmetadata: { name: d }\n", "", named("b"), list].join("---\n");
  assert.deepEqual(
    parseManifests(text, "file", "space").map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
    ["space/a", "space/b", "other/c"],
  );
});

test("what cannot be used is told with file and document", () => {
  const table: readonly (readonly [string, RegExp])[] = [
    ["kind: Deployment", /^file has no Service$/],
    ["", /^file has no Service$/],
    ["a: [", /^file, document 1: not YAML: /],
    [`${named("a")}---\n${named("a")}`, /^file has Service default\/a twice$/],
    ["kind: Service\nspec: {}", /^file, document 1: a Service without metadata\.name$/],
    [
      "kind: Service\nmetadata: { name: a, annotations: 7 }",
      /^file, document 1: Service default\/a: metadata\.annotations/,
    ],
  ];
  for (const [text, message] of table) assert.throws(() => parseManifests(text, "file", "default"), { message });
});

test("a manifest of a Service that is there keeps what the API server gave, and its identity", () => {
  const existing = projectService({
    metadata: {
      name: "a",
      namespace: "default",
      uid: "u-1",
      resourceVersion: "7",
      annotations: { "azlb.io/applied": "x", gone: "y" },
    },
    spec: { type: "LoadBalancer", ports: [{ port: 80, protocol: "TCP", nodePort: 31000 }] },
    status: { loadBalancer: { ingress: [{ ip: "20.0.0.4" }] } },
  } as Parameters<typeof projectService>[0]);
  const { applied, unallocated } = applyManifests(parseManifests(named("a"), "file", "default"), {
    get: () => existing,
  });
  const [service] = applied;
  assert.deepEqual(
    [service?.metadata.uid, service?.metadata.annotations, service?.spec.ports[0]?.nodePort, service?.status],
    ["u-1", { "azlb.io/applied": "x" }, 31000, { loadBalancer: { ingress: [{ ip: "20.0.0.4" }] } }],
  );
  assert.deepEqual(unallocated, { bases: new Set(), ports: new Set() });
});

test("what the API server would allocate has placeholders, the same each time", () => {
  const make = (): ReturnType<typeof applyManifests> =>
    applyManifests(parseManifests(named("a"), "file", "default"), { get: () => undefined });
  const { applied, unallocated } = make();
  assert.deepEqual([...unallocated.ports], [applied[0]?.spec.ports[0]?.nodePort]);
  assert.equal(unallocated.bases.size, 1);
  assert.deepEqual(applied, make().applied);
});
