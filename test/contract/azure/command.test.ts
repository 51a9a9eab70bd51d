/** The command: one line of facts, clear refusals, a clean end. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { runAzlb, startAzlbAzure } from "./azlb-azure.ts";

const directory = mkdtempSync(join(tmpdir(), "azlb-command-"));
after(() => rmSync(directory, { recursive: true }));

const KEYS = [
  "kubeconfig",
  "cloudConfig",
  "armEndpoint",
  "caFile",
  "subscriptionId",
  "resourceGroup",
  "azureControlUrl",
  "kubeControlUrl",
  "dashboardUrl",
  "metricsUrl",
  "env",
];

test("--json prints one line with every key, null for what isn't running, and SIGTERM ends it with 0", async () => {
  const azlb = await startAzlbAzure("--nodes", "2", "--vm-type", "standard");
  const line = JSON.parse(azlb.lineText) as Record<string, unknown>;
  assert.deepEqual(Object.keys(line), KEYS);
  for (const key of ["kubeconfig", "kubeControlUrl", "dashboardUrl", "metricsUrl"]) assert.equal(line[key], null);
  const config = JSON.parse(readFileSync(azlb.line.cloudConfig, "utf8")) as Record<string, string>;
  assert.equal(config["resourceManagerEndpoint"], azlb.line.armEndpoint);
  assert.equal(config["caFile"], azlb.line.caFile);
  assert.equal(config["vmType"], "standard");
  for (const [key, value] of Object.entries({
    vnetName: "vnet",
    subnetName: "subnet",
    securityGroupName: "nsg",
    location: "westus2",
  })) {
    assert.equal(config[key], value);
  }
  const about = (await (await fetch(`${azlb.line.azureControlUrl}/`)).json()) as {
    about: { nodes: { name: string }[] };
  };
  assert.deepEqual(
    about.about.nodes.map(({ name }) => name),
    ["agent-0", "agent-1"],
  );
  assert.equal(await azlb.stop("SIGTERM"), 0);
});

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const WRONG: readonly [string, readonly string[], RegExp][] = [
  ["a seed file that is not there", ["--seed", join(directory, "none.json")], /--seed .*none\.json cannot be read/],
  ["a seed file that is no JSON", ["--seed", file("no.json", "{")], /seed is not JSON/],
  [
    "an unknown key in it",
    ["--seed", file("key.json", '{"toplogy": {}}')],
    /unknown key "toplogy"; known are topology, resources/,
  ],
  [
    "a wrong value in it",
    ["--seed", file("value.json", '{"topology": {"vmType": "vm"}}')],
    /seed\.topology\.vmType must be one of vmss, vmssflex, standard, not "vm"/,
  ],
  [
    "a seed that Azure refuses",
    [
      "--seed",
      file(
        "refused.json",
        '{"resources": [{"path": "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroup}/providers/Microsoft.Network/loadBalancers/x", "body": {}}]}',
      ),
    ],
    /loadBalancers\/x was refused with 400: .*LocationRequired/,
  ],
  [
    "a latency that is none",
    ["--latency", "slow"],
    /latency must be none, realistic or a factor such as 0\.1, not "slow"/,
  ],
  ["a limit that Azure has not", ["--limits", "rules=5"], /a key of limits must be one of .*rulesPerLoadBalancer/],
  ["a count that is none", ["--nodes", "many"], /--nodes is "many"; it takes a whole number from 0 to 5000/],
  ["an unknown flag", ["--node", "3"], /unknown option '--node'/],
  ["an unknown choice", ["--vm-type", "vm"], /Allowed choices are vmss, vmssflex, standard/],
];

for (const [what, flags, message] of WRONG) {
  test(`${what}: exit code 2 and a message that says so`, async () => {
    const { code, stdout, stderr } = await runAzlb("azure", "--json", ...flags);
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
    assert.equal(stdout, "");
  });
}

for (const flag of ["--port", "--control-port"]) {
  test(`${flag} that is taken: exit code 2, and nothing stays open`, async () => {
    const taken = createServer();
    await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
    const { port } = taken.address() as AddressInfo;
    const { code, stderr } = await runAzlb("azure", flag, String(port));
    taken.close();
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`port ${port} is in use`));
  });
}
