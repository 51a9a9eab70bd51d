import assert from "node:assert/strict";
import { test } from "node:test";

import { parseConfig } from "./parse-config.ts";

const BASE = {
  tenantId: "t",
  subscriptionId: "s",
  resourceGroup: "rg",
  location: "westus2",
  loadBalancerBackendPoolConfigurationType: "nodeIP",
  aadClientId: "id",
  aadClientSecret: "secret",
};

function parse(items: unknown, more: object = {}) {
  const raw = { ...BASE, multipleStandardLoadBalancerConfigurations: items, ...more };
  return parseConfig(raw, { clusterName: "kubernetes", environment: {} });
}

const FIRST = { name: "kubernetes", primaryVMSet: "vmss" };

test("items are read with the incumbent's defaults, fields without case", () => {
  const parsed = parse([
    FIRST,
    {
      Name: "lb2",
      primaryvmset: "vmss2",
      allowServicePlacement: false,
      serviceLabelSelector: { matchLabels: { a: "b" } },
    },
  ]);
  assert.equal(parsed.kind, "config", JSON.stringify(parsed));
  assert.deepEqual(parsed.kind === "config" && parsed.config.loadBalancers, [
    {
      name: "kubernetes",
      primaryVmSet: "vmss",
      allowServicePlacement: true,
      serviceSelector: undefined,
      namespaceSelector: undefined,
      nodeSelector: undefined,
    },
    {
      name: "lb2",
      primaryVmSet: "vmss2",
      allowServicePlacement: false,
      serviceSelector: { requirements: [{ key: "a", operator: "In", values: ["b"] }] },
      namespaceSelector: undefined,
      nodeSelector: undefined,
    },
  ]);
});

const KEY = "multipleStandardLoadBalancerConfigurations";
const WRONG: readonly [name: string, items: unknown, more: object, expected: string][] = [
  ["no list", "lb2", {}, `${KEY} is "lb2", allowed: a list`],
  ["an item that is no object", [FIRST, "lb2"], {}, `${KEY}[1] is "lb2", allowed: an object with`],
  ["no name", [FIRST, { primaryVMSet: "x" }], {}, `${KEY}[1].name is missing: give it a value`],
  [
    "an empty name",
    [FIRST, { name: " ", primaryVMSet: "x" }],
    {},
    `${KEY}[1].name is " ", allowed: a text that is not empty`,
  ],
  [
    "a name that is none",
    [FIRST, { name: "lb 2", primaryVMSet: "x" }],
    {},
    `${KEY}[1].name is "lb 2", allowed: the name of an Azure resource`,
  ],
  [
    "a name that leaves no room for -internal",
    [FIRST, { name: "l".repeat(72), primaryVMSet: "x" }],
    {},
    `${KEY}[1].name is "${"l".repeat(72)}", allowed: the name of an Azure resource`,
  ],
  ["no primary VM set", [{ name: "kubernetes" }], {}, `${KEY}[0].primaryVMSet is missing: give it a value`],
  [
    "one name twice",
    [FIRST, { name: "Kubernetes", primaryVMSet: "x" }],
    {},
    `${KEY}: the name "Kubernetes" is given twice`,
  ],
  [
    "one VM set twice",
    [FIRST, { name: "lb2", primaryVMSet: "VMSS" }],
    {},
    `${KEY}: primaryVMSet "VMSS" is given twice`,
  ],
  [
    "an internal name",
    [FIRST, { name: "lb-internal", primaryVMSet: "x" }],
    {},
    `${KEY}[1].name is "lb-internal": internal`,
  ],
  ["no item of the cluster's name", [{ name: "lb2", primaryVMSet: "x" }], {}, `${KEY}: no item is named "kubernetes"`],
  [
    "a flag that is none",
    [{ ...FIRST, allowServicePlacement: "no" }],
    {},
    `${KEY}[0].allowServicePlacement is "no", allowed: true or false`,
  ],
  [
    "a selector that is none",
    [{ ...FIRST, nodeSelector: { matchLabels: { a: 1 } } }],
    {},
    `${KEY}[0].nodeSelector.matchLabels.a is 1, allowed: a text`,
  ],
  ["Basic", [FIRST], { loadBalancerSku: "basic" }, `${KEY} needs loadBalancerSku standard, but it is basic`],
  [
    "pools of interfaces",
    [FIRST],
    { loadBalancerBackendPoolConfigurationType: "nodeIPConfiguration" },
    `${KEY} needs loadBalancerBackendPoolConfigurationType nodeIP`,
  ],
];

for (const [name, items, more, expected] of WRONG) {
  test(`refused with key, value and fix: ${name}`, () => {
    const parsed = parse(items, more);
    assert.equal(parsed.kind, "invalid");
    const errors = parsed.kind === "invalid" ? parsed.errors : [];
    assert.ok(
      errors.some((error) => error.startsWith(expected)),
      errors.join("\n"),
    );
  });
}

test("an unknown field is told with the nearest known one", () => {
  const parsed = parse([{ ...FIRST, allowServicePlacements: true }]);
  assert.deepEqual(parsed.warnings, [
    `unknown field ${KEY}[0].allowServicePlacements: did you mean allowServicePlacement?`,
  ]);
});
