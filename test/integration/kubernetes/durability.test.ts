/** `azlb kube --data-dir`, killed at any moment: whatever it acknowledged is there after the next start. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";

import { eventually } from "../../support/eventually.ts";
import { reusablePort } from "../../support/reusable-port.ts";
import { type KubeConnection, type KubeObject, connect } from "../../support/kube-connection.ts";

const AZLB = resolve(import.meta.dirname, "../../../bin/azlb");
const MAPS = "/api/v1/namespaces/default/configmaps";
/** Each is made once, then written over and over. */
const NAMES = 20;
const WITHIN_MS = 60_000;
const directory = mkdtempSync(join(tmpdir(), "azlb-durability-"));
const running = new Set<ChildProcess>();

after(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

interface Line {
  readonly kubeconfig: string;
  readonly kubeControlUrl: string;
}

/** Starts the command; resolves with what it says once ready. */
async function start(...flags: string[]): Promise<{ child: ChildProcess; line: Line }> {
  return ready(spawn(AZLB, ["kube", "--json", "--nodes", "1", ...flags], { stdio: ["ignore", "pipe", "inherit"] }));
}

async function ready(child: ChildProcess): Promise<{ child: ChildProcess; line: Line }> {
  running.add(child);
  child.once("exit", () => running.delete(child));
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const [text] = (await once(lines, "line")) as [string];
  return { child, line: JSON.parse(text) as Line };
}

/** For the first start: ports that are still free at the next one. */
async function quietPorts(): Promise<string[]> {
  return ["--port", String(await reusablePort()), "--control-port", String(await reusablePort())];
}

async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const exit = once(child, "exit");
  child.kill(signal);
  const [code] = (await exit) as [number | null];
  return code;
}

/** Writes until the connection breaks, and keeps the last acknowledged object by name. */
async function writeUntilKilled(
  client: KubeConnection,
  round: number,
  acknowledged: Map<string, KubeObject>,
): Promise<void> {
  try {
    for (let count = 0; ; count++) {
      const name = `map-${round}-${count % NAMES}`;
      const exists = acknowledged.has(name);
      const body = { metadata: { name }, data: { count: String(count) } };
      const reply = await client.request(exists ? "PUT" : "POST", exists ? `${MAPS}/${name}` : MAPS, { body });
      assert.ok(reply.code < 300, reply.text);
      acknowledged.set(name, reply.body);
    }
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
  }
}

const countOf = (object: KubeObject): number => Number((object["data"] as { count: string }).count);

test("kill -9 loses nothing that was acknowledged; address, credentials and versions stay", async () => {
  let first: Line | undefined;
  let lastVersion = "0";
  for (let round = 0; round < 3; round++) {
    const { child, line } = await start("--data-dir", directory, ...(round === 0 ? await quietPorts() : []));
    first ??= line;
    assert.deepEqual(line, first, "the same line after a restart");
    const client = connect(line.kubeconfig);
    const acknowledged = new Map<string, KubeObject>();
    const writing = writeUntilKilled(client, round, acknowledged);
    await eventually(() => assert.equal(acknowledged.size, NAMES, "too few writes yet"), WITHIN_MS);
    await kill(child, "SIGKILL");
    await writing;
    await client.close();

    const again = await start("--data-dir", directory);
    const reader = connect(again.line.kubeconfig);
    for (const [name, said] of acknowledged) {
      const seen = (await reader.request("GET", `${MAPS}/${name}`)).body;
      assert.equal(seen.metadata.uid, said.metadata.uid);
      // The last write may have been carried out without its answer.
      assert.ok(countOf(seen) >= countOf(said), `${name}: ${countOf(seen)} after ${countOf(said)}`);
    }
    const list = await reader.request("GET", `${MAPS}?limit=1`);
    assert.ok(Number(list.body.metadata.resourceVersion) > Number(lastVersion), "versions never go back");
    lastVersion = list.body.metadata.resourceVersion ?? "";
    await reader.close();
    await kill(again.child, "SIGKILL");
  }
});

test("a watch resumes over a restart, from the version it had", async () => {
  const before = await start("--data-dir", directory);
  const client = connect(before.line.kubeconfig);
  const { body } = await client.request("GET", `${MAPS}?limit=1`);
  await client.request("POST", MAPS, { body: { metadata: { name: "missed" } } });
  await kill(before.child, "SIGKILL");
  const again = await start("--data-dir", directory);
  const watch = await client.watch(`${MAPS}?watch=true&resourceVersion=${body.metadata.resourceVersion}`);
  assert.equal((await watch.next()).object.metadata.name, "missed");
  watch.close();
  await client.close();
  await kill(again.child, "SIGKILL");
});

test("on a full disk a write is answered with 503, and all that was acknowledged survives", async () => {
  const folder = join(directory, "full");
  const flags = ["kube", "--json", "--nodes", "1", "--data-dir", folder];
  const command = 'ulimit -f 64 && exec "$0" "$@"'; // 64 KiB a file
  const { child, line } = await ready(
    spawn("bash", ["-c", command, AZLB, ...flags], { stdio: ["ignore", "pipe", "ignore"] }),
  );
  const client = connect(line.kubeconfig);
  const acknowledged: string[] = [];
  const codes = new Set<number>();
  for (let count = 0; count < 30; count++) {
    const name = `map-${count}`;
    const data = { ballast: "x".repeat(count % 3 === 0 ? 10 : 6_000) };
    const reply = await client.request("POST", MAPS, { body: { metadata: { name }, data } });
    codes.add(reply.code);
    if (reply.code === 201) acknowledged.push(name);
    else assert.match(reply.text, /could not be written to .*journal-0\.log: EFBIG.*ServiceUnavailable/);
  }
  assert.deepEqual([...codes], [201, 503]);
  const before = await client.request("GET", MAPS);
  await client.close();
  await kill(child, "SIGTERM");
  const again = await start("--data-dir", folder);
  const reader = connect(again.line.kubeconfig);
  const after = await reader.request("GET", MAPS);
  const namesIn = (list: KubeObject): unknown[] => (list["items"] as KubeObject[]).map((item) => item.metadata.name);
  assert.deepEqual(namesIn(after.body), namesIn(before.body));
  assert.deepEqual(namesIn(after.body), acknowledged.toSorted());
  await reader.close();
  await kill(again.child, "SIGKILL");
});

test("a damaged journal ends with 2 and its place; --accept-journal-loss starts with what came before", async () => {
  const folder = join(directory, "damaged");
  const { child, line } = await start("--data-dir", folder, "--without-simulation");
  const client = connect(line.kubeconfig);
  await client.request("POST", MAPS, { body: { metadata: { name: "before" } } });
  const journal = join(folder, "state", "journal-0.log");
  const place = statSync(journal).size;
  for (const name of ["damaged", "later"]) await client.request("POST", MAPS, { body: { metadata: { name } } });
  await kill(child, "SIGTERM");
  const bytes = readFileSync(journal);
  bytes[place + 20] = 0;
  writeFileSync(journal, bytes);

  const refused = spawnSync(AZLB, ["kube", "--data-dir", folder, "--without-simulation"], { encoding: "utf8" });
  assert.equal(refused.status, 2);
  assert.match(
    refused.stderr,
    new RegExp(`journal-0.log is damaged at record \\d+ .*byte ${place}\\).*--accept-journal`),
  );
  assert.deepEqual(readFileSync(journal), bytes);

  const again = await start("--data-dir", folder, "--without-simulation", "--accept-journal-loss");
  const reader = connect(again.line.kubeconfig);
  assert.equal((await reader.request("GET", `${MAPS}/before`)).code, 200);
  assert.equal((await reader.request("GET", `${MAPS}/later`)).code, 404);
  await reader.close();
  await client.close();
  await kill(again.child, "SIGKILL");
});

test("asked to stop, it stops with 0, open watches or not", async () => {
  const { child, line } = await start();
  const client = connect(line.kubeconfig);
  const watch = await client.watch(`${MAPS}?watch=true`);
  assert.equal(await kill(child, "SIGTERM"), 0);
  await watch.rest().catch(() => []);
  await client.close();
});

test("bad flags end with 2 and one line that names them", async () => {
  for (const [flags, message] of [
    [["--port", "high"], /--port is "high"/],
    [["--nodes", "-1"], /--nodes is "-1"/],
    [["--data-dir", `${AZLB}/inside`], /--data-dir .* cannot be used/],
  ] as const) {
    const child = spawn(AZLB, ["kube", ...flags], { stdio: ["ignore", "ignore", "pipe"] });
    let text = "";
    child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
    const [code] = (await once(child, "close")) as [number];
    assert.equal(code, 2);
    assert.match(text, message);
    assert.equal(text.trim().split("\n").length, 1);
  }
});
