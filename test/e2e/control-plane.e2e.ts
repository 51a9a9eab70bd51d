/** The control plane itself: it starts, stands alone, and is gone when it should be. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

import { startControlPlane } from "../support/control-plane.ts";
import { connect } from "../support/kube-connection.ts";

test("two run side by side, each with its own data, and close() leaves nothing", async () => {
  const planes = await Promise.all([startControlPlane(), startControlPlane()]);
  const [one, two] = planes.map((plane) => connect(plane.kubeconfig));
  const made = await one?.request("POST", "/api/v1/namespaces", { body: { metadata: { name: "only-here" } } });
  assert.equal(made?.code, 201);
  assert.equal((await two?.request("GET", "/api/v1/namespaces/only-here"))?.code, 404);
  await Promise.all([one?.close(), two?.close()]);
  await Promise.all(planes.map((plane) => plane.close()));
  for (const plane of planes) {
    assert.equal(await answers(plane.url), false);
    assert.equal(await answers(plane.etcdUrl), false);
    assert.equal(existsSync(dirname(plane.kubeconfig)), false);
  }
});

test("it ends with the process that started it, even one that is killed outright", async () => {
  const program = `import { startControlPlane } from ${JSON.stringify(resolve(import.meta.dirname, "../support/control-plane.ts"))};
    const { kubeconfig, url, etcdUrl } = await startControlPlane();
    console.log(JSON.stringify([kubeconfig, url, etcdUrl]));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const line = await new Promise<string>((told) => child.stdout.setEncoding("utf8").once("data", told));
  const [kubeconfig, ...urls] = JSON.parse(line) as string[];
  for (const url of urls) assert.equal(await answers(url), true);
  child.kill("SIGKILL");
  for (const url of urls) {
    for (const deadlineMs = Date.now() + 30_000; await answers(url); await delay(100)) {
      assert.ok(Date.now() < deadlineMs, `${url} still answers`);
    }
  }
  rmSync(dirname(kubeconfig ?? ""), { recursive: true }); // what a killed process cannot do itself
});

/** Whether anything listens there: a refused connection is the only no. */
async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    (error: Error) => !String((error.cause as NodeJS.ErrnoException | undefined)?.code).includes("ECONNREFUSED"),
  );
}
