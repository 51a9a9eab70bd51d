/** `azlb verify-azure` against the emulator: what it does, what it leaves, what its trace tells, and that the trace can be replayed. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";

import { startAzure, type RunningAzure } from "../../sandbox/azure/index.ts";
import type { Verification } from "../../src/main/verify-azure/verify.ts";
import { armHttp, type ArmHttp } from "../contract/azure/arm-http.ts";
import { trust } from "../contract/azure/azure-under-test.ts";
import { replayTrace } from "../contract/azure/replay/replay-trace.ts";
import { type Ended, runAzlb } from "../support/azlb-process.ts";

const API = "api-version=2025-05-01";

suite("azlb verify-azure", () => {
  let azure: RunningAzure;
  let arm: ArmHttp;
  let dir: string;
  let group: string;
  before(async () => {
    azure = await startAzure({ topology: { nodes: 0 } });
    trust(azure.caPem);
    arm = await armHttp(azure);
    dir = mkdtempSync(join(tmpdir(), "azlb-verify-"));
    group = `/subscriptions/${azure.subscriptionId}/resourceGroups/my-secret-project`;
    await arm.send("PUT", `${group}?api-version=2021-04-01`, { body: { location: "westus2" } });
  });
  after(async () => {
    await azure.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const verify = (resourceGroup: string, ...more: string[]): Promise<Ended> => {
    const flags = ["--resource-group", resourceGroup, "--cloud-config", azure.cloudConfigFile];
    return runAzlb("verify-azure", ...flags, "--trace", join(dir, "trace.json"), ...more);
  };
  const written = async (): Promise<number> => {
    const types = ["loadBalancers", "publicIPAddresses", "virtualNetworks", "networkSecurityGroups"];
    const lists = await Promise.all(
      types.map((type) => arm.send("GET", `${group}/providers/Microsoft.Network/${type}?${API}`)),
    );
    return lists.reduce((sum, { body }) => sum + (body as { value: unknown[] }).value.length, 0);
  };

  test("without --yes it says what it costs and does nothing", async () => {
    const { code, stdout, stderr } = await verify("my-secret-project");
    assert.equal(code, 2);
    assert.match(stdout, /charges/);
    assert.match(stderr, /add --yes/);
  });

  test("a cloud config that cannot be read is named", async () => {
    const flags = ["--resource-group", "none", "--cloud-config", join(dir, "missing.json"), "--yes"];
    const { code, stderr } = await runAzlb("verify-azure", ...flags);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /--cloud-config \S+missing\.json cannot be read: .*no such file/);
  });

  test("a group that is in use is refused", async () => {
    const { code, stderr } = await verify("rg", "--yes");
    assert.equal(code, 2, stderr);
    assert.match(stderr, /--resource-group rg is in use: it has \w+ "\w+"/);
  });

  test("all scenarios pass, nothing is left, and the trace has neither ids nor secrets and can be replayed", async () => {
    const { code, stdout, stderr } = await verify("my-secret-project", "--yes", "--within", "60");
    assert.equal(code, 0, stdout + stderr);
    assert.equal(await written(), 0);
    const text = readFileSync(join(dir, "trace.json"), "utf8");
    const { tenantId, clientId, clientSecret } = azure.account;
    for (const hidden of [azure.subscriptionId, tenantId, clientId, clientSecret, "my-secret-project", "127.0.0.1"]) {
      assert.ok(!text.includes(hidden), hidden);
    }
    const { results, calls } = JSON.parse(text) as Verification;
    assert.equal(results.length, 6);
    assert.ok(calls.some(({ path, method }) => method === "PUT" && /\/backendAddressPools\//.test(path)));
    const { replayed, unlike } = await replayTrace(calls);
    assert.ok(replayed > 20, String(replayed));
    assert.deepEqual(unlike, []);
    const other = await replayTrace(
      calls.slice(0, 6).map((call) => (call.method === "PUT" ? { ...call, status: 409 } : call)),
    );
    assert.match(other.unlike[0] ?? "", /^PUT .*: status 409, ours 201$/);
  });
});
