import assert from "node:assert/strict";
import { test } from "node:test";
import { CONFIG } from "../../../test/support/core-fixtures.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { KNOWN_KEYS } from "./config-keys.ts";
import type { CredentialConfig } from "./credential-config.ts";
import { parseConfig } from "./parse-config.ts";

type Raw = Readonly<Record<string, unknown>>;
type Environment = Readonly<Record<string, string>>;

const LEAST = { tenantId: "t", subscriptionId: "s", resourceGroup: "RG", location: "West US 2" };

function parsed(
  raw: Raw,
  environment: Environment = {},
): { config: ClusterConfig; credentials: CredentialConfig; warnings: readonly string[] } {
  const result = parseConfig({ ...LEAST, ...raw }, { clusterName: "kubernetes", environment });
  assert.ok(result.kind === "config", JSON.stringify(result));
  return result;
}

function errorsOf(raw: Raw, environment: Environment = {}): readonly string[] {
  const result = parseConfig(raw, { clusterName: "kubernetes", environment });
  return result.kind === "invalid" ? result.errors : [];
}

test("the least config gets the incumbent's defaults", () => {
  assert.deepEqual(parsed({}).config, {
    ...CONFIG,
    subscriptionId: "s",
    networkSubscriptionId: "s",
    vnetName: "",
    subnetName: "",
    securityGroupName: "",
    poolType: "nodeIPConfiguration",
  });
  assert.deepEqual(parsed({}).warnings, []);
});

const settings: readonly (readonly [string, Raw, Partial<ClusterConfig>])[] = [
  ["keys match without case", { LOADBALANCERSKU: "Basic" }, { sku: "basic" }],
  ["null is as good as absent", { vmType: null }, { vmType: "vmss" }],
  [
    "taints that drain are a list of keys",
    { loadBalancerAdminStateTaints: "node.cloudprovider.kubernetes.io/shutdown, mine" },
    { adminStateTaints: ["node.cloudprovider.kubernetes.io/shutdown", "mine"] },
  ],
  ["true may be quoted", { enableLoadBalancerAdminState: "False" }, { enableAdminState: false }],
  [
    "the primary VM set is the scale set",
    { primaryScaleSetName: "ss", primaryAvailabilitySetName: "as" },
    { primaryVmSet: "ss" },
  ],
  [
    "or the availability set for standard VMs",
    { vmType: "standard", primaryScaleSetName: "ss", primaryAvailabilitySetName: "as" },
    { primaryVmSet: "as" },
  ],
  ["pool types match without case", { loadBalancerBackendPoolConfigurationType: "nodeip" }, { poolType: "nodeIP" }],
  [
    "the shared probe has a port and a path",
    { clusterServiceLoadBalancerHealthProbeMode: "Shared" },
    { sharedProbe: { port: 10_256, path: "/healthz" } },
  ],
  ["tagsMap wins over tags", { tags: "a=1,B=2", tagsMap: { b: "3" } }, { tags: { a: "1", b: "3" } }],
  ["system tags are a list of prefixes", { systemTags: " aks, x ," }, { systemTags: ["aks", "x"] }],
  [
    "an edge zone needs both its halves",
    { extendedLocationName: "edge", extendedLocationType: "EdgeZone" },
    { extendedLocation: { name: "edge", type: "EdgeZone" } },
  ],
  ["Azure Stack is known by its cloud", { cloud: "AZURESTACKCLOUD" }, { azureStack: true }],
  [
    "unless its older api-versions are turned off",
    { cloud: "AzureStackCloud", disableAzureStackCloud: true },
    { azureStack: false },
  ],
  ["no rule count means the default one", { maximumLoadBalancerRuleCount: 0 }, { maximumLoadBalancerRuleCount: 250 }],
];
for (const [sentence, raw, expected] of settings) {
  test(sentence, () => {
    const { config } = parsed(raw);
    assert.deepEqual({ ...config, ...expected }, config);
  });
}

const refusals: readonly (readonly [string, Raw, RegExp])[] = [
  ["a missing subscription", { subscriptionId: "" }, /^subscriptionId is missing/],
  ["an unknown SKU", { loadBalancerSku: "premium" }, /^loadBalancerSku is "premium", allowed: standard, basic/],
  ["an unknown VM type", { vmType: "pods" }, /^vmType is "pods", allowed: vmss, standard, vmssflex/],
  ["sharing that is none", { addressSharing: "all" }, /^addressSharing is "all", allowed: any, namespace, consent/],
  [
    "a limit that is none",
    { loadBalancerLimits: "ports=3" },
    /^loadBalancerLimits is "ports=3", allowed: frontends, rules/,
  ],
  ["a flag that is none", { excludeMasterFromStandardLB: "yes" }, /is "yes", allowed: true or false/],
  ["a port out of range", { clusterServiceSharedLoadBalancerHealthProbePort: 70_000 }, /is 70000, allowed: a whole/],
  [
    "a path with blanks",
    { clusterServiceSharedLoadBalancerHealthProbePath: "/is it up" },
    /^clusterServiceSharedLoadBalancerHealthProbePath is "\/is it up", allowed: a path without blanks/,
  ],
  [
    "a resource group that leads elsewhere",
    { privateLinkServiceResourceGroup: "../x" },
    /^privateLinkServiceResourceGroup is "..\/x", allowed: the name of a resource group/,
  ],
  [
    "a load balancer's name that is none",
    { loadBalancerName: "a/b" },
    /^loadBalancerName is "a\/b", allowed: the name of an/,
  ],
  ["an object where text belongs", { vnetName: {} }, /^vnetName is \{\}, allowed: text/],
  ["tags that are no texts", { tagsMap: { a: 1 } }, /^tagsMap is \{"a":1\}, allowed: an object of texts/],
  ["an unknown cloud", { cloud: "Azur" }, /^cloud is "Azur", allowed: AzurePublicCloud/],
  [
    "outbound SNAT off on Basic",
    { loadBalancerSku: "basic", disableOutboundSNAT: true },
    /^disableOutboundSNAT is true/,
  ],
  [
    "pools of addresses on Basic",
    { loadBalancerSku: "basic", loadBalancerBackendPoolConfigurationType: "nodeIP" },
    /^loadBalancerBackendPoolConfigurationType is nodeIP, .* use nodeIPConfiguration$/,
  ],
  [
    "no availability sets outside vmss",
    { vmType: "standard", disableAvailabilitySetNodes: true },
    /^disableAvailabilitySetNodes is true with vmType standard/,
  ],
  [
    "a cordon as a taint that drains",
    { loadBalancerAdminStateTaints: "node.kubernetes.io/unschedulable" },
    /^loadBalancerAdminStateTaints has "node\.kubernetes\.io\/unschedulable", .*: remove it/,
  ],
  [
    "what is no key of a taint",
    { loadBalancerAdminStateTaints: "a=b:NoSchedule" },
    /^loadBalancerAdminStateTaints has "a=b:NoSchedule": it takes keys of taints/,
  ],
  ["the service gateway", { serviceGatewayEnabled: true }, /^serviceGatewayEnabled: true: the service gateway/],
  ["pod IP pools", { loadBalancerBackendPoolConfigurationType: "podIP" }, /podIP: the service gateway/],
  ["a secret without its client", { aadClientSecret: "x" }, /^aadClientId is missing: aadClientSecret needs it/],
];
for (const [what, raw, message] of refusals) {
  test(`${what} is refused by key, value and fix`, () => {
    const errors = errorsOf({ ...LEAST, ...raw });
    assert.equal(errors.length, 1, JSON.stringify(errors));
    assert.match(errors[0] ?? "", message);
  });
}

test("all that is wrong is said at once, and a config that is none is refused too", () => {
  assert.equal(errorsOf({ vmType: "x", loadBalancerSku: "y" }).length, 5);
  assert.deepEqual(errorsOf([] as unknown as Raw), ["the cloud config is not an object of keys and values"]);
});

test("an empty list of several load balancers is fine", () => {
  assert.equal(parsed({ multipleStandardLoadBalancerConfigurations: [] }).config.sku, "standard");
});

test("a secret is never shown", () => {
  const errors = errorsOf({ ...LEAST, aadClientSecret: { hidden: "deep" } });
  assert.ok(!errors.join().includes("deep"), errors.join());
});

test("unknown keys are warned about with the nearest known key", () => {
  assert.deepEqual(parsed({ loadBalancerSkuu: "basic", subnet: "x" }).warnings, [
    "unknown key loadBalancerSkuu in the cloud config: did you mean loadBalancerSku?",
    "unknown key subnet in the cloud config: did you mean subnetName?",
  ]);
});

test("keys without effect are named in one warning, those of other parts of a cluster in none", () => {
  const raw = { cloudProviderRateLimit: true, vmCacheTTLInSeconds: 5, diskRateLimit: {}, routeTableName: "rt" };
  assert.deepEqual(parsed(raw).warnings, [
    "these keys of the cloud config have no effect here: cloudProviderRateLimit, vmCacheTTLInSeconds, diskRateLimit",
  ]);
});

test("tags that are no pairs and half an edge zone are warned about", () => {
  assert.equal(parsed({ tags: "a=1,b", extendedLocationName: "edge" }).warnings.length, 2);
});

test("no known key is listed twice", () => {
  const lower = KNOWN_KEYS.map((key) => key.toLowerCase());
  assert.deepEqual(
    lower.filter((key, at) => lower.indexOf(key) !== at),
    [],
  );
});

const credentials: readonly (readonly [string, Raw, Environment, CredentialConfig["credential"]])[] = [
  [
    "a service principal by secret",
    { aadClientID: "c", aadClientSecret: "x" },
    {},
    { kind: "secret", tenantId: "t", clientId: "c", secret: "x" },
  ],
  [
    "by certificate",
    { aadClientId: "c", aadClientCertPath: "/cert", aadClientCertPassword: "p" },
    {},
    { kind: "certificate", tenantId: "t", clientId: "c", path: "/cert", password: "p" },
  ],
  [
    "the system's managed identity",
    { useManagedIdentityExtension: true, aadClientId: "msi", aadClientSecret: "msi" },
    {},
    { kind: "managedIdentity", userAssigned: undefined },
  ],
  [
    "a user's managed identity by client id",
    { useManagedIdentityExtension: true, userAssignedIdentityID: "id" },
    {},
    { kind: "managedIdentity", userAssigned: { by: "clientId", id: "id" } },
  ],
  [
    "or by resource id",
    { useManagedIdentityExtension: true, userAssignedIdentityID: "/subscriptions/s/x" },
    {},
    { kind: "managedIdentity", userAssigned: { by: "resourceId", id: "/subscriptions/s/x" } },
  ],
  [
    "workload identity from the environment wins over all",
    { useManagedIdentityExtension: true, aadClientId: "c" },
    { AZURE_TENANT_ID: "et", AZURE_CLIENT_ID: "ec", AZURE_FEDERATED_TOKEN_FILE: "/token" },
    { kind: "workloadIdentity", tenantId: "et", clientId: "ec", tokenFile: "/token" },
  ],
  [
    "the environment's secret wins over the file's",
    { aadClientId: "c", aadClientSecret: "x" },
    { AZURE_CLIENT_SECRET: "y" },
    { kind: "secret", tenantId: "t", clientId: "c", secret: "y" },
  ],
  ["nothing at all", {}, {}, { kind: "none" }],
];
for (const [sentence, raw, environment, expected] of credentials) {
  test(`credentials: ${sentence}`, () => assert.deepEqual(parsed(raw, environment).credentials.credential, expected));
}

test("a custom cloud may bear any name when it has an endpoint", () => {
  const { credentials } = parsed({ cloud: "my-cloud", resourceManagerEndpoint: "http://127.0.0.1:1", caFile: "/ca" });
  assert.deepEqual(
    [credentials.cloudName, credentials.cloud, credentials.resourceManagerEndpoint, credentials.caFile],
    ["my-cloud", "AzurePublicCloud", "http://127.0.0.1:1", "/ca"],
  );
});

test("a network tenant counts only where it is another one", () => {
  assert.equal(parsed({ networkResourceTenantID: "T" }).credentials.networkTenantId, undefined);
  assert.equal(parsed({ networkResourceTenantID: "n" }).credentials.networkTenantId, "n");
});

test("managed identity needs no tenant, a secret does", () => {
  const { tenantId: _, ...rest } = LEAST;
  assert.deepEqual(errorsOf({ ...rest, useManagedIdentityExtension: true }), []);
  assert.match(errorsOf({ ...rest, aadClientId: "c", aadClientSecret: "x" })[0] ?? "", /^tenantId is missing/);
});
