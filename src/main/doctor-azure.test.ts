import assert from "node:assert/strict";
import { test } from "node:test";

import { CONFIG } from "../../test/support/core-fixtures.ts";
import { ArmError, type ArmFailure } from "../azure/arm/failures.ts";
import { type AzureQuestion, checkAzure } from "./doctor-azure.ts";

const BASE = { message: "not there", status: 404, details: [], requestId: undefined };
const NO_GROUP: ArmFailure = { ...BASE, kind: "notFound", code: "ResourceGroupNotFound", missing: "resourceGroup" };
const NO_RESOURCE: ArmFailure = { ...BASE, kind: "notFound", code: "ResourceNotFound", missing: "resource" };
const DENIED: ArmFailure = {
  ...BASE,
  kind: "denied",
  code: "AuthorizationFailed",
  action: "Microsoft.Network/x/read",
  scope: "/there",
};
const THROTTLED: ArmFailure = { ...BASE, kind: "throttled", code: "TooManyRequests", retryAfterMs: 60_000 };

const PROVIDER = { resourceTypes: [{ resourceType: "loadBalancers", apiVersions: ["2026-01-01", "2024-05-01"] }] };

/** What Azure answers, by the end of the path; a failure is thrown. */
type Answers = Readonly<Record<string, unknown>>;
const SOUND: Answers = {
  "/loadBalancers": [],
  "/publicIPAddresses": [],
  "/networkSecurityGroups/nsg": {},
  "/subnets": [],
  "/subnets/subnet": {},
  "/permissions": [{ actions: ["*"], notActions: [] }],
  "/usages": [{ name: { value: "PublicIPAddresses" }, currentValue: 10, limit: 100 }],
  "/providers/Microsoft.Network": PROVIDER,
};

async function linesOf(change: Answers): Promise<string[]> {
  const answers = Object.entries({ ...SOUND, ...change });
  const answer = async (path: string): Promise<never> => {
    const [, found] = answers.find(([end]) => path.endsWith(end)) ?? assert.fail(path);
    if (typeof found === "object" && found !== null && "kind" in found)
      throw new ArmError(found as ArmFailure, `get ${path}`);
    return found as never;
  };
  const client = { get: answer, list: answer } as AzureQuestion["client"];
  const signal = new AbortController().signal;
  const checks = await checkAzure({ client, config: CONFIG, where: "azure.json", profile: "current", signal });
  return checks
    .filter(({ kind }) => kind !== "ok")
    .map((check) => [check.kind, check.what, check.text, ...("fix" in check ? [check.fix] : [])].join(" | "));
}

test("where everything is there, nothing is told", async () => {
  assert.deepEqual(await linesOf({}), []);
});

const CASES: readonly [what: string, change: Answers, line: RegExp][] = [
  [
    "resource group",
    { "/loadBalancers": NO_GROUP },
    /resourceGroup \| "rg" does not exist.* correct resourceGroup in azure.json/,
  ],
  [
    "right to read",
    { "/loadBalancers": DENIED },
    /resourceGroup \| no right to Microsoft.Network\/x\/read on \/there \|/,
  ],
  ["patience of Azure", { "/loadBalancers": THROTTLED }, /Azure \| not there \| try again in some minutes/],
  [
    "VNet",
    { "/subnets": NO_RESOURCE },
    /read VNet \| there is no VNet "vnet" in "rg".* correct vnetName in azure.json/,
  ],
  [
    "VNet's group",
    { "/subnets": NO_GROUP },
    /read VNet \| resource group "rg" does not exist.* correct vnetResourceGroup/,
  ],
  [
    "subnet",
    { "/subnets/subnet": NO_RESOURCE },
    /read subnet \| there is no subnet "subnet" in "vnet".* correct subnetName/,
  ],
  ["security group", { "/networkSecurityGroups/nsg": NO_RESOURCE }, /"nsg" in "rg".* correct securityGroupName/],
  ["its group", { "/networkSecurityGroups/nsg": NO_GROUP }, /"rg" does not exist.* correct securityGroupResourceGroup/],
  ["public IPs", { "/publicIPAddresses": DENIED }, /read public IPs \| no right .*azure-role\.json/],
  ["action of the role", { "/permissions": [{ actions: ["*/read"], notActions: [] }] }, /missing on rg: .*\/write/],
  [
    "quota",
    { "/usages": [{ name: { value: "PublicIPAddresses" }, currentValue: 95, limit: 100 }] },
    /quota \| less than a tenth is left: PublicIPAddresses 95 of 100 \| ask Azure for a higher quota in westus2/,
  ],
  [
    "api-version",
    {
      "/providers/Microsoft.Network": {
        resourceTypes: [{ resourceType: "loadBalancers", apiVersions: ["2015-06-15"] }],
      },
    },
    /api-versions \| Microsoft.Network has none of .*, newest 2015-06-15 \| for Azure Stack set cloud/,
  ],
];

for (const [what, change, line] of CASES) {
  test(`no ${what}: one line with the fix`, async () => {
    const lines = await linesOf(change);
    assert.equal(lines.length, 1, lines.join("\n"));
    assert.match(lines[0] ?? "", line);
    assert.match(lines[0] ?? "", /^wrong /);
  });
}

test("what a cloud does not offer is not wrong", async () => {
  assert.deepEqual(
    (await linesOf({ "/permissions": NO_RESOURCE, "/usages": NO_RESOURCE, "/providers/Microsoft.Network": {} })).map(
      (line) => line.split(" | ").slice(0, 2).join(" "),
    ),
    ["unknown rights in Azure", "unknown quota", "unknown api-versions"],
  );
});
