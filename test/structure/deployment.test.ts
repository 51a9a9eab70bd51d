/** `deploy/deployment.yaml` asks for what the program offers and the measurements say, and for no privileges. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";

import { parseAllDocuments } from "yaml";

interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly livenessProbe: unknown;
  readonly readinessProbe: unknown;
  readonly resources: Readonly<Record<"requests" | "limits", { readonly memory: string }>>;
  readonly securityContext: unknown;
}
interface Deployment {
  readonly kind: string;
  readonly spec: { readonly template: { readonly spec: PodSpec } };
}
interface PodSpec {
  readonly securityContext: unknown;
  readonly containers: readonly [Container];
}

const FILE = resolve(import.meta.dirname, "../../deploy/deployment.yaml");
const objects = parseAllDocuments(readFileSync(FILE, "utf8")).map((document) => document.toJS() as Deployment);
const deployment = objects.find(({ kind }) => kind === "Deployment");
assert.ok(deployment !== undefined);
const pod = deployment.spec.template.spec;
const [container] = pod.containers;

test("the probes ask for liveness, and for what leader and standby both have", () => {
  assert.deepEqual(container.livenessProbe, { httpGet: { path: "/livez", port: "health" } });
  assert.deepEqual(container.readinessProbe, { httpGet: { path: "/readyz", port: "health" } });
});

test("the pod has no privileges", () => {
  assert.deepEqual(pod.securityContext, { seccompProfile: { type: "RuntimeDefault" } });
  assert.deepEqual(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    runAsUser: 65532,
    capabilities: { drop: ["ALL"] },
  });
});

test("its memory is that of the largest cluster measured, with LBCF within the limit, and Node knows the option that shares it out", () => {
  const measuredMB = { services: 299, lbcf: 727 }; // deploy/README.md, Sizing; docs/benchmarks.md
  const { requests, limits } = container.resources;
  assert.ok(mebibytes(requests.memory) * 1.048576 > measuredMB.services);
  assert.ok(mebibytes(limits.memory) * 1.048576 > measuredMB.lbcf);
  assert.ok(mebibytes(limits.memory) >= 2 * mebibytes(requests.memory));
  const options = container.env.find(({ name }) => name === "NODE_OPTIONS")?.value ?? "";
  assert.ok(process.allowedNodeEnvironmentFlags.has(options.split("=")[0] ?? ""), options);
});

function mebibytes(quantity: string): number {
  const [, number] = /^(\d+)Mi$/.exec(quantity) ?? [];
  return Number(number);
}
