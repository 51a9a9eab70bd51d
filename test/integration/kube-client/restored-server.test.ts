/**
 * The API server is restored to an older state under running caches, as etcd is from a backup: what came back, what went
 * and what has its old state again is noticed without a restart, and no write of the lost time hides it.
 */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { startKubernetes, type RunningKubernetes } from "../../../sandbox/kubernetes/index.ts";
import { Reflector } from "../../../src/kube/cache/reflector.ts";
import { WriteThroughStore } from "../../../src/kube/cache/store.ts";
import { CONFIG_MAPS, type KubeObject } from "../../../src/kube/client/resources.ts";
import { openKubeClient } from "../../../src/main/kube-access.ts";
import { realClock } from "../../../src/main/real-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { reusablePort } from "../../support/reusable-port.ts";

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const namespace = "default";
/** Long enough for a busy machine. The check at the resumption finds it; the periodic one is tested on virtual time. */
const WITHIN_MS = 30_000;
const directory = mkdtempSync(join(tmpdir(), "azlb-restored-"));
const dataDir = join(directory, "data");
const backup = join(directory, "backup");
let kubernetes: RunningKubernetes;

after(async () => {
  await kubernetes.close();
  rmSync(directory, { recursive: true, force: true });
});

const start = async (): Promise<RunningKubernetes> =>
  startKubernetes({ dataDir, port: await port, controlPort: await controlPort, controllers: false });
const port = reusablePort();
const controlPort = reusablePort();

test("a restore is noticed: objects that are back, gone, another of their name, and as they were", async () => {
  kubernetes = await start();
  const { client, close } = openKubeClient({ kubeconfig: kubernetes.kubeconfig, userAgent: "test" });
  const create = (name: string, data = { at: "backup" }): Promise<ConfigMap> =>
    client.create<ConfigMap>(CONFIG_MAPS, { metadata: { namespace, name }, data });
  const [deleted, remade, changed] = [await create("deleted"), await create("remade"), await create("changed")];
  await kubernetes.close();
  cpSync(dataDir, backup, { recursive: true });
  kubernetes = await start();

  const reflector = new Reflector<ConfigMap>({
    client,
    resource: CONFIG_MAPS,
    selection: { namespace },
    clock: realClock,
    random: Math.random,
    project: (object) => object,
  });
  const objects = new WriteThroughStore<ConfigMap>(reflector);
  const stop = new AbortController();
  const run = reflector.run(stop.signal);
  try {
    await reflector.synced;
    for (const name of ["deleted", "remade"]) await client.delete(CONFIG_MAPS, { namespace, name });
    await create("remade", { at: "later" });
    await create("new");
    const merge = { data: { at: "later" } };
    objects.wrote(await client.patch<ConfigMap>(CONFIG_MAPS, { namespace, name: "changed" }, { merge }));
    const keys = (): string[] => [...objects.store.keys()].sort();
    await eventually(() => {
      assert.deepEqual(keys(), ["default/changed", "default/new", "default/remade"]);
      assert.equal(reflector.store.get("default/changed")?.data?.["at"], "later");
    }, WITHIN_MS);

    await kubernetes.close();
    rmSync(dataDir, { recursive: true });
    cpSync(backup, dataDir, { recursive: true });
    kubernetes = await start();
    await eventually(() => {
      assert.deepEqual(keys(), ["default/changed", "default/deleted", "default/remade"]);
      for (const before of [deleted, remade, changed]) {
        const known = objects.get(`default/${before.metadata.name}`);
        assert.deepEqual([known?.metadata.uid, known?.data], [before.metadata.uid, { at: "backup" }]);
      }
    }, WITHIN_MS);

    objects.wrote(await client.patch<ConfigMap>(CONFIG_MAPS, { namespace, name: "changed" }, { merge }));
    assert.equal(objects.get("default/changed")?.data?.["at"], "later");
    await create("after");
    await eventually(() => assert.ok(keys().includes("default/after"), "the watch follows again"), WITHIN_MS);
  } finally {
    stop.abort(new Error("the test is over"));
    await run;
    await close();
  }
});
