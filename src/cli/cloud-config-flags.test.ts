import assert from "node:assert/strict";
import { test } from "node:test";

import { cloudConfigSource } from "./cloud-config-flags.ts";

const DEFAULTS = { cloudConfigSecretNamespace: "kube-system", cloudConfigKey: "cloud-config" };
const EXPORTED = { AZLB_CLOUD_CONFIG: "/exported/azure.json" };
const SECRET = { kind: "secret", namespace: "kube-system", name: "azure", key: "cloud-config" };

test("a flag wins over the environment, whichever flag it is", () => {
  const file = { kind: "file", path: "/given/azure.json" };
  assert.deepEqual(cloudConfigSource({ ...DEFAULTS, cloudConfig: "/given/azure.json" }, EXPORTED), file);
  assert.deepEqual(cloudConfigSource({ ...DEFAULTS, cloudConfigSecretName: "azure" }, EXPORTED), SECRET);
});

test("without a flag the environment names the file", () => {
  assert.deepEqual(cloudConfigSource(DEFAULTS, EXPORTED), { kind: "file", path: "/exported/azure.json" });
});

test("without either the error says what to give", () => {
  for (const env of [{}, { AZLB_CLOUD_CONFIG: "" }]) {
    assert.throws(
      () => cloudConfigSource(DEFAULTS, env),
      /--cloud-config FILE.*--cloud-config-secret-name.*AZLB_CLOUD_CONFIG/,
    );
  }
});
