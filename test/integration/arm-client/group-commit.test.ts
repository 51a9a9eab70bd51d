/**
 * Group commit against the emulator, with the merges of the core, a second writer who uses the official SDK, and the
 * faults that Azure is known for.
 */
import assert from "node:assert/strict";
import { afterEach, before, test } from "node:test";

import type { Committed } from "../../../src/azure/group-commit/commit-types.ts";
import { WriteKind } from "../../../src/azure/group-commit/write-kind.ts";
import type { LoadBalancer, PublicIP } from "../../../src/core/model/arm.ts";
import type { LoadBalancerFragment } from "../../../src/core/resources/load-balancer/fragment.ts";
import { mergeLoadBalancer } from "../../../src/core/resources/load-balancer/merge-load-balancer.ts";
import { aFragment, anOwner, LOAD_BALANCER_ID } from "../../support/fragments.ts";
import { armUnderTest, CREATE, PUBLIC_IP } from "./arm-under-test.ts";

const SERVICES = 100;
const { azure, client, commit, attempts, known, arm } = await armUnderTest({ plainHttp: true });
const names = Array.from({ length: SERVICES }, (_, at) => `s${at}`);
const fragments = names.map((name, at) => aFragment(anOwner(name), { ports: [1000 + at] }));

before(async () => {
  const ids = fragments.flatMap(({ frontends }) =>
    frontends.map(({ properties }) => properties.publicIPAddress?.id ?? ""),
  );
  await Promise.all(ids.map((id) => client.put(id, PUBLIC_IP, CREATE)));
});

afterEach(async () => {
  await azure.control("DELETE", "/faults");
  await client.delete(LOAD_BALANCER_ID, CREATE);
  known.clear();
  attempts.length = 0;
  await azure.control("DELETE", "/audit");
});

const LOAD_BALANCER = new WriteKind("loadBalancer", mergeLoadBalancer);

function submit(fragment: LoadBalancerFragment): Promise<Committed<LoadBalancer>> {
  const write = { id: LOAD_BALANCER_ID, kind: LOAD_BALANCER, dedupKey: fragment.owner.key, fragment };
  return commit.submit({ ...write, ...CREATE });
}

const kinds = (outcomes: readonly { kind: string }[]): string[] =>
  [...new Set(outcomes.map(({ kind }) => kind))].sort();

async function ruleNames(): Promise<string[]> {
  const { properties } = await client.get<LoadBalancer>(LOAD_BALANCER_ID, CREATE);
  return (properties.loadBalancingRules ?? []).map(({ name }) => name).sort();
}

function expectedRules(of = fragments): string[] {
  return of.flatMap(({ rules }) => rules.map(({ name }) => name)).sort();
}

async function puts(): Promise<number> {
  const { entries } = (await azure.control("GET", "/audit?method=PUT&path=loadBalancers")) as { entries: unknown[] };
  return entries.length;
}

test("a hundred Services need a handful of writes", async () => {
  assert.deepEqual(kinds(await Promise.all(fragments.map(submit))), ["written"]);
  assert.deepEqual(await ruleNames(), expectedRules());
  assert.ok((await puts()) <= 2, `${await puts()} PUTs`);
  assert.deepEqual(kinds(await Promise.all(fragments.map(submit))), ["unchanged"]);
  assert.ok((await puts()) <= 2);
});

test("one poisoned fragment in a batch of a hundred fails alone, with Azure's own reason", async () => {
  const culprit = anOwner("s42");
  const poisoned = aFragment(culprit, { ports: [1042], publicIP: "never-made" });
  const batch = fragments.map((fragment) => (fragment.owner.key === culprit.key ? poisoned : fragment));
  const outcomes = await Promise.all(batch.map(submit));
  const failed = outcomes[42];
  assert.ok(failed?.kind === "failed");
  assert.equal(failed.failure.code, "InvalidResourceReference");
  assert.match(failed.failure.message, /never-made/);
  assert.equal(outcomes.filter(({ kind }) => kind === "written").length, SERVICES - 1);
  assert.equal((await ruleNames()).length, SERVICES - 1);
  assert.ok((await puts()) <= 4, `${await puts()} PUTs`);
});

test("a lost answer is looked for, not written again", async () => {
  await arm({ method: "PUT", path: "**/loadBalancers/*", effect: { kind: "cutAfter" } });
  assert.deepEqual(kinds(await Promise.all(fragments.slice(0, 10).map(submit))), ["unchanged"]);
  assert.deepEqual(await ruleNames(), expectedRules(fragments.slice(0, 10)));
  assert.equal(await puts(), 1);
});

test("a connection cut before the write is tried again", async () => {
  await arm({ method: "PUT", path: "**/loadBalancers/*", count: 2, effect: { kind: "cutBefore" } });
  assert.deepEqual(kinds(await Promise.all(fragments.slice(0, 10).map(submit))), ["written"]);
  assert.deepEqual(await ruleNames(), expectedRules(fragments.slice(0, 10)));
});

test("an operation that a newer write cancels is done again, and the newer one's content stays", async () => {
  await submit(fragments[0] ?? assert.fail());
  const superseded = { code: "CanceledAndSupersededDueToAnotherOperation", message: "by another operation" };
  const effect = { kind: "operation", outcome: "Canceled", details: [superseded], tailMs: 50 };
  await arm({ method: "PUT", path: "**/loadBalancers/*", effect });
  assert.deepEqual(kinds(await Promise.all(fragments.slice(1, 20).map(submit))), ["written"]);
  assert.deepEqual(await ruleNames(), expectedRules(fragments.slice(0, 20)));
  assert.deepEqual(
    attempts.map(({ outcome }) => outcome).filter((outcome) => outcome === "superseded"),
    ["superseded"],
  );
});

test("an operation that fails after it was accepted leaves nothing of the culprit behind", async () => {
  await submit(fragments[0] ?? assert.fail());
  await arm({
    method: "PUT",
    path: "**/loadBalancers/*",
    effect: { kind: "operation", outcome: "Failed", code: "RulesUseSameBackendPortProtocolAndPool", tailMs: 20 },
  });
  const outcome = await submit(fragments[1] ?? assert.fail());
  assert.ok(outcome.kind === "failed" && outcome.failure.kind === "invalid");
  await submit(fragments[2] ?? assert.fail());
  assert.deepEqual(await ruleNames(), expectedRules([fragments[0], fragments[2]].filter((each) => each !== undefined)));
});

test("a stale read is noticed by the write", async () => {
  await submit(fragments[0] ?? assert.fail());
  known.clear();
  await submit(fragments[1] ?? assert.fail());
  known.clear();
  await arm({ method: "GET", path: "**/loadBalancers/*", effect: { kind: "staleRead" } });
  assert.deepEqual(kinds([await submit(fragments[2] ?? assert.fail())]), ["written"]);
  assert.deepEqual(await ruleNames(), expectedRules(fragments.slice(0, 3)));
});

test("no owner loses anything to a second writer that edits all the time", async () => {
  await submit(fragments[0] ?? assert.fail());
  const progress = { isOver: false };
  const ours = (async () => {
    for (let at = 1; at < 60; at += 6) await Promise.all(fragments.slice(at, at + 6).map(submit));
    progress.isOver = true;
  })();
  let edits = 0;
  while (!progress.isOver || edits === 0) {
    const seen = await azure.network.loadBalancers.get("rg", "kubernetes");
    const probes = (seen.probes ?? []).filter(({ name }) => name !== "theirs");
    const next = [...probes, { name: "theirs", protocol: "Tcp", port: 2000 + edits, intervalInSeconds: 5 }];
    const customHeaders = { "If-Match": seen.etag ?? "" };
    const options = { requestOptions: { customHeaders }, updateIntervalInMs: 1 };
    const edit = azure.network.loadBalancers.beginCreateOrUpdateAndWait(
      "rg",
      "kubernetes",
      { ...seen, probes: next },
      options,
    );
    edits += await edit
      .then(() => 1)
      .catch((error: { statusCode?: number }) => (error.statusCode === 412 ? 0 : Promise.reject(error)));
  }
  await ours;
  assert.deepEqual(await ruleNames(), expectedRules(fragments.slice(0, 61)));
  const { properties } = await client.get<LoadBalancer>(LOAD_BALANCER_ID, CREATE);
  const theirs = properties.probes?.find(({ name }) => name === "theirs");
  assert.equal(theirs?.properties.port, 2000 + edits - 1);
});

test("a public IP that never becomes ready fails its own Service alone; one that failed is repaired", async () => {
  const [first = assert.fail(), second = assert.fail(), third = assert.fail()] = fragments;
  const id = second.frontends[0]?.properties.publicIPAddress?.id ?? "";
  await arm({ method: "PUT", path: id, effect: { kind: "operation", outcome: "Failed", code: "InternalServerError" } });
  const body = await client.get<PublicIP>(id, CREATE);
  await assert.rejects(client.put(id, { ...body, tags: { touched: "yes" } }, CREATE));
  assert.deepEqual(kinds(await Promise.all([first, second, third].map(submit))), ["written"]);
  assert.equal((await client.get<PublicIP>(id, CREATE)).properties.provisioningState, "Succeeded");
});

test("the last fragment to go takes the load balancer with it", async () => {
  const few = fragments.slice(0, 5);
  await Promise.all(few.map(submit));
  const gone = few.map((fragment) => ({
    ...fragment,
    shell: undefined,
    frontends: [],
    rules: [],
    probes: [],
    pools: [],
  }));
  assert.deepEqual(kinds(await Promise.all(gone.map(submit))), ["deleted"]);
  assert.equal(await client.find(LOAD_BALANCER_ID, CREATE), null);
  assert.equal(known.get(LOAD_BALANCER_ID.toLowerCase()), null);
});
