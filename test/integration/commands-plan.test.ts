/** `azlb plan` as people run it: what it prints, where its manifests come from, and with which code it exits. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { parse } from "yaml";

import { SERVICES } from "../../src/kube/client/resources.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";
import { type Ended, runAzlb } from "../support/azlb-process.ts";
import { commandSandbox } from "../support/command-sandbox.ts";
import { FaultControl } from "../support/fault-control.ts";

const GROUP = "service.beta.kubernetes.io/azure-load-balancer-resource-group";
const { dir, sandbox } = await commandSandbox();

function plan(...args: readonly string[]): Promise<Ended> {
  const flags = ["--kubeconfig", sandbox.kubeconfig, "--cloud-config", sandbox.azure.cloudConfigFile];
  return runAzlb("plan", ...flags, ...args);
}

function manifest(text: string): string {
  const file = join(dir, "manifest.yaml");
  writeFileSync(file, text);
  return file;
}

/** Applies a Service, and deletes it afterwards. */
async function withService(metadata: object, work: () => Promise<void>): Promise<void> {
  const { client, close } = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
  const place = { namespace: "default", name: "web", ...metadata };
  await client.create(SERVICES, { metadata: place, spec: { type: "LoadBalancer", ports: [{ port: 80 }] } });
  try {
    await work();
  } finally {
    await client.delete(SERVICES, place);
    await close();
  }
}

test("a cluster without Services: nothing to do, exit code 0 in both ways", async () => {
  for (const more of [[], ["--detailed-exitcode"]]) {
    const { code, stdout, stderr } = await plan(...more);
    assert.deepEqual([code, stdout], [0, "Nothing to do.\n"], stderr);
  }
});

test("a Service to be served: one line and a summary; --details has the writes; -o json and yaml the same data", async () => {
  await withService({}, async () => {
    const { code, stdout, stderr } = await plan();
    assert.match(
      stdout,
      /^\+ default\/web +new, at <known after apply>: create public IP, load balancer; update security /,
    );
    assert.match(
      stdout,
      /\n\n1 public IP and 1 load balancer to create, .* to change, 0 addresses change, 0 refused\n$/,
    );
    assert.deepEqual([code, stderr], [0, ""]);
    const [detailed, json, former, yaml] = await Promise.all([
      plan("--details", "--detailed-exitcode"),
      plan("-o", "json", "--detailed-exitcode"),
      plan("--json"),
      plan("-o", "yaml"),
    ]);
    assert.match(detailed.stdout, /^patch Service default\/web\n.*\n {2}\+ metadata\.finalizers/);
    assert.match(detailed.stdout, /served at <known after apply>/);
    assert.deepEqual([detailed.code, json.code, former.code, yaml.code], [2, 2, 0, 0]);
    const data = JSON.parse(json.stdout) as {
      steps: unknown[];
      rejected: unknown[];
      changes: unknown[];
      summary: object;
    };
    assert.deepEqual(data, JSON.parse(former.stdout));
    assert.deepEqual(data, parse(yaml.stdout));
    assert.ok(data.steps.length > 3);
    assert.deepEqual([data.rejected, data.changes], [[], []]);
  });
});

test("--html writes a page that needs nothing else", async () => {
  const file = join(dir, "plan.html");
  await withService({}, async () => {
    const { code } = await plan("--html", file);
    assert.equal(code, 0);
    const page = readFileSync(file, "utf8");
    assert.match(page, /<td>default\/web<\/td><td>new, at &lt;known after apply&gt;: create public IP/);
    assert.doesNotMatch(page, /<script|src=|href=/);
  });
  const { code, stderr } = await plan("--html", join(dir, "missing", "plan.html"));
  assert.match(stderr, /^azlb: --html \S+plan\.html cannot be written: /);
  assert.equal(code, 2);
});

const SERVICE = "kind: Service\nmetadata: { name: shop }\nspec: { type: LoadBalancer, ports: [{ port: 80 }] }\n";

test("-f plans manifests that are not applied: no name and no address is invented", async () => {
  const file = manifest(`${SERVICE}---\nkind: ConfigMap\nmetadata: { name: c }\n`);
  const { code, stdout, stderr } = await plan("-f", file, "--detailed-exitcode");
  assert.match(stdout, /^\+ default\/shop +new, at <known after apply>: create public IP/, stderr);
  assert.equal(code, 2);
  const { stdout: details } = await plan("-f", file, "--details");
  assert.match(details, /create public IP kubernetes-<known after apply>/);
  assert.doesNotMatch(details, /198\.18\.|1000000|[-[]a[0-9a-f]{31}/);
});

test("-f: a manifest that is refused, or cannot be read, is an error", async () => {
  const key = "service.beta.kubernetes.io/azure-load-balancer-internal";
  const bad = manifest(SERVICE.replace("name: shop", `name: shop, annotations: { ${key}: "yes" }`));
  const refused = await plan("-f", bad, "--detailed-exitcode");
  assert.match(refused.stdout, /^x default\/shop +refused, InvalidAnnotation: .*"yes"/);
  assert.equal(refused.code, 1);
  const missing = await plan("-f", join(dir, "nothing.yaml"));
  assert.match(missing.stderr, /^azlb: \S+nothing\.yaml cannot be read: /);
  assert.equal(missing.code, 2);
  const detailed = await plan("-f", join(dir, "nothing.yaml"), "--detailed-exitcode");
  assert.equal(detailed.code, 1);
});

test("a Service that cannot be looked at is an entry: the others are planned, exit code 1", async () => {
  const faults = new FaultControl(sandbox.azure.controlUrl);
  const effect = { kind: "status", status: 403, code: "AuthorizationFailed" };
  await faults.arm({ method: ["GET"], path: "**/resourceGroups/secret-rg/**", count: null, effect });
  await withService({}, () =>
    withService({ name: "lost", annotations: { [GROUP]: "secret-rg" } }, async () => {
      const { code, stdout, stderr } = await plan();
      assert.match(
        stdout,
        /^\? default\/lost +cannot be looked at, Azure: no right .*: assign the role Reader/,
        stderr,
      );
      assert.match(stdout, /^\+ default\/web +new/m);
      assert.match(stdout, /, 1 cannot be looked at\n$/);
      assert.equal(code, 1);
    }),
  );
  await faults.clear();
});

test("a group that does not exist refuses its Service alone", async () => {
  await withService({ name: "lost", annotations: { [GROUP]: "other-rg" } }, async () => {
    const { code, stdout } = await plan("--detailed-exitcode");
    assert.match(stdout, /^x default\/lost +refused, ResourceGroupNotFound: annotation .*"other-rg" does not exist/);
    assert.equal(code, 0);
  });
});

test("no right to read Azure at all: told at once with action and role, exit code 2", async () => {
  const faults = new FaultControl(sandbox.azure.controlUrl);
  const effect = { kind: "status", status: 403, code: "AuthorizationFailed" };
  await faults.arm({ method: ["GET"], path: "**/resourceGroups/**", count: null, effect });
  const { code, stdout, stderr } = await plan();
  await faults.clear();
  assert.match(stderr, /^azlb: Azure: no right .*: assign the role Reader .*\(AuthorizationFailed\)\n$/);
  assert.deepEqual([code, stdout], [2, ""]);
});
