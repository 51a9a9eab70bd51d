import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { findCloud, type CloudSettings } from "./clouds.ts";
import type { ArmTransport } from "./transport.ts";

function answering(body: unknown, status = 200): ArmTransport & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    send: async ({ url }) => {
      asked.push(url);
      return { status, headers: {}, body: JSON.stringify(body) };
    },
    close: async () => {},
  };
}

const NOBODY = answering(undefined, 500);
const LISTED = {
  name: "MyCloud",
  resourceManager: "https://arm.mine/",
  authentication: { loginEndpoint: "https://login.mine/", audiences: ["https://audience.mine/", "other"] },
};

function settings(given: Partial<CloudSettings> = {}): CloudSettings {
  return { cloud: "AzurePublicCloud", cloudName: "", resourceManagerEndpoint: undefined, azureStack: false, ...given };
}

test("named clouds need no request; the public one is the default", async () => {
  assert.equal((await findCloud(settings(), NOBODY)).resourceManager, "https://management.azure.com");
  assert.equal(
    (await findCloud(settings({ cloud: "AzureUSGovernmentCloud" }), NOBODY)).authority,
    "https://login.microsoftonline.us",
  );
  assert.deepEqual(NOBODY.asked, []);
});

test("a custom cloud describes itself; the entry with the configured name is taken", async () => {
  const transport = answering([{ name: "Other" }, LISTED]);
  const mine = settings({ cloudName: "mycloud", resourceManagerEndpoint: "https://arm.mine/" });
  const cloud = await findCloud(mine, transport);
  assert.deepEqual(cloud, {
    resourceManager: "https://arm.mine",
    authority: "https://login.mine",
    audience: "https://audience.mine",
    profile: "current",
  });
  assert.deepEqual(transport.asked, ["https://arm.mine/metadata/endpoints?api-version=2019-05-01"]);
});

test("without a name the first entry is taken, and an entry without address is the endpoint itself", async () => {
  const { resourceManager: _, ...unaddressed } = LISTED;
  const cloud = await findCloud(settings({ resourceManagerEndpoint: "https://arm.here" }), answering([unaddressed]));
  assert.equal(cloud.resourceManager, "https://arm.here");
});

test("an emulated Azure on this machine says where its control endpoint is; no other machine is believed to be one", async () => {
  const mine = settings({ resourceManagerEndpoint: "https://arm.mine" });
  const controlOf = async (control: unknown): Promise<string | undefined> =>
    (await findCloud(mine, answering([{ ...LISTED, emulator: { control } }]))).emulatorControl;
  assert.equal(await controlOf("http://127.0.0.1:18084"), "http://127.0.0.1:18084");
  for (const other of ["http://169.254.169.254", "http://127.0.0.1.example.com", "https://arm.mine", "nonsense", 7]) {
    assert.equal(await controlOf(other), undefined, String(other));
  }
});

test("a cloud that cannot be found says what to change", async () => {
  const bare = settings({ cloud: "AzureStackCloud", cloudName: "AzureStackCloud" });
  await assert.rejects(findCloud(bare, NOBODY), /cloud: "AzureStackCloud" needs resourceManagerEndpoint/);
  const mars = settings({ cloudName: "Mars", resourceManagerEndpoint: "https://arm.mine" });
  await assert.rejects(findCloud(mars, answering([LISTED])), /"Mars" is not among .* \(MyCloud\)/);
  await assert.rejects(findCloud(mars, answering({}, 404)), /answered 404 to \/metadata\/endpoints/);
  const empty = { ...LISTED, name: "Mars", authentication: { loginEndpoint: "x", audiences: [] } };
  await assert.rejects(findCloud(mars, answering([empty])), /no audience/);
});

test("Azure Stack is described by its file and has old api-versions unless told otherwise", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "azlb-clouds-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const environmentFile = join(directory, "environment.json");
  writeFileSync(
    environmentFile,
    JSON.stringify({
      resourceManagerEndpoint: "https://stack/",
      tokenAudience: "https://aud",
      activeDirectoryEndpoint: "https://adfs/adfs/",
    }),
  );
  const stack = settings({ cloud: "AzureStackCloud", azureStack: true });
  assert.deepEqual(await findCloud(stack, NOBODY, environmentFile), {
    resourceManager: "https://stack",
    authority: "https://adfs/adfs",
    audience: "https://aud",
    profile: "azureStack",
  });
  assert.equal((await findCloud({ ...stack, azureStack: false }, NOBODY, environmentFile)).profile, "current");
  writeFileSync(environmentFile, "{}");
  await assert.rejects(
    findCloud(stack, NOBODY, environmentFile),
    /must be JSON with resourceManagerEndpoint and tokenAudience/,
  );
});
