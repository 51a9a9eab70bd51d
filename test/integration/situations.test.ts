/**
 * Every situation of `test/support/situations.ts`, made for real, with what an Event, `azlb explain` and the page's API then say.
 * `docs/situations.md` is what was said; `AZLB_WRITE_DOCS=1` writes it anew.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";

import type { ServiceDetail } from "../../src/core/view/service-detail.ts";
import type { ProbesView } from "../../src/core/view/probe-findings.ts";
import { SILENT_LOG } from "../../src/core/util/log.ts";
import { ApiRefusal, openApi } from "../../src/main/api-access.ts";
import { withClusterView } from "../../src/main/cluster-view.ts";
import { explainBalancer } from "../../src/main/explain-balancer.ts";
import { explainByApi } from "../../src/main/explain-by-api.ts";
import { explainInFull } from "../../src/main/explain-service.ts";
import { ApiClient } from "../support/api-client.ts";
import { dataPlaneAt } from "../support/data-plane.ts";
import { openEmbeddedCluster } from "../support/embedded-cluster.ts";
import { eventually } from "../support/eventually.ts";
import { type Backend, echoBackend } from "../support/loopback-backends.ts";
import { ServiceRig, WITHIN_MS } from "../support/service-rig.ts";
import { IN_TURN, SIDE_BY_SIDE, type Situation } from "../support/situations.ts";

const FILE = new URL("../../docs/situations.md", import.meta.url);
const SWITCHES = { list: () => Promise.resolve([]), flip: () => Promise.resolve({}) };
const rows: string[] = [];
/** Nothing listens there. */
const CLOSED_PORT = 9;
let rig: ServiceRig;
let backend: Backend;

before(async () => {
  rig = await ServiceRig.open(openEmbeddedCluster, {
    azure: { dataPlane: true },
    controller: { api: { host: "127.0.0.1", port: 0, sandbox: { switches: SWITCHES } } },
  });
  backend = await echoBackend("a node");
  const table = { "*": backend.port, "9999": CLOSED_PORT };
  await dataPlaneAt(rig.azure.controlUrl).map(Object.fromEntries(rig.azure.nodes.map(({ ip }) => [ip, table])));
  await Promise.all(SIDE_BY_SIDE.map(({ make }) => make(rig)));
});
after(async () => {
  await rig.close();
  await backend.close();
});

for (const situation of SIDE_BY_SIDE) test(situation.title, () => isTold(situation));
test("among all, worst first; a node; a load balancer; each by the controller's word and by an own look", async () => {
  const api = openApi(rig.kube, { url: rig.apiUrl, env: {} });
  const all = await explainByApi(api, { kind: "all", namespace: "default", extent: "visible" }, Date.now());
  assert.equal(all.isFailing, true);
  assert.match(all.text, /^refused +default\/value +InvalidAnnotation: .*"maybe"/m);
  assert.match(all.text, /^9 Services are as they ask$/m);
  const [node = ""] = rig.azure.nodes.map(({ name }) => name);
  const { text: one } = await explainByApi(api, { kind: "node", name: node }, Date.now());
  assert.match(one, /^state +takes new connections\npool +kubernetes of kubernetes: None$/m);
  const told = await explainByApi(api, { kind: "loadBalancer", name: "kubernetes" }, Date.now());
  const { text: balancer } = told;
  assert.match(balancer, /^limit +rules \d+ of 1500$/m);
  const looked = await withClusterView({ ...rig.viewOptions, log: SILENT_LOG }, (view) =>
    explainBalancer(view, "kubernetes"),
  );
  assert.deepEqual({ ...looked.data, toldBy: `the controller (${api.where})` }, told.data);
  assert.deepEqual(looked.text.split("\n").slice(0, -1), balancer.split("\n").slice(0, -2));
  await assert.rejects(
    explainByApi(api, { kind: "loadBalancer", name: "nowhere" }, Date.now()),
    /there is no load balancer nowhere; there are: kubernetes/,
  );
});

for (const situation of IN_TURN)
  test(situation.title, async () => {
    await situation.make(rig);
    await isTold(situation);
    await situation.unmake?.(rig);
  });

test("docs/situations.md is what was said (AZLB_WRITE_DOCS=1 writes it)", () => {
  const text = `${HEADER}${rows.join("\n")}\n`;
  if (process.env["AZLB_WRITE_DOCS"] === "1") writeFileSync(FILE, text);
  assert.equal(text, readFileSync(FILE, "utf8"));
});

const HEADER = `# What is said in which situation

Written by a test that makes each situation on an emulated Azure and Kubernetes, and asks all three (\`test/integration/situations.test.ts\`).
Of each there is the sentence that matters. ADDRESS, TIME and the like stand for what differs each time. Where there is no event, the
controller is not there or has no part in it.

| Situation | Event | \`azlb explain\` | The page |
|---|---|---|---|
`;

async function isTold({ title, name, event, explain, page, isAlone = false }: Situation): Promise<void> {
  const said = { event: "none", explain: "", page: "no page" };
  await eventually(async () => {
    if (event !== undefined) {
      const events = (await rig.events(name)).map(({ reason, message }) => `${reason}: ${message}`);
      said.event = events.findLast((text) => event.test(text)) ?? assert.fail(`${event} in ${JSON.stringify(events)}`);
    }
    said.explain = lineOf(await (isAlone ? lookedAt(name) : explainedBy(name)), explain);
    if (page !== undefined) said.page = lineOf(await shownOf(name), page);
  }, WITHIN_MS);
  rows.push(`| ${[title, said.event, said.explain, said.page].map(cell).join(" | ")} |`);
}

/** The line that fits. */
function lineOf(text: string, pattern: RegExp): string {
  assert.match(text, pattern);
  return text.split("\n").find((line) => pattern.test(line)) ?? text;
}

async function explainedBy(name: string): Promise<string> {
  const api = openApi(rig.kube, { url: rig.apiUrl, env: {} });
  try {
    return (await explainByApi(api, { kind: "service", key: `default/${name}` }, Date.now())).text;
  } catch (error) {
    if (error instanceof ApiRefusal) return error.message;
    throw error;
  }
}

async function lookedAt(name: string): Promise<string> {
  const options = { ...rig.viewOptions, log: SILENT_LOG };
  const { text, isFailing } = await withClusterView(options, (view) => explainInFull(view, `default/${name}`, {}));
  assert.equal(isFailing, true);
  return text;
}

/** What the page of the Service shows of the API's answer, line by line. */
async function shownOf(name: string): Promise<string> {
  const { status, text } = await new ApiClient(rig.apiUrl).answer(`/api/v1/services/default/${name}`);
  if (status !== 200) return (JSON.parse(text) as { error: string }).error;
  const detail = JSON.parse(text) as ServiceDetail;
  const probes = await new ApiClient(rig.apiUrl).get<ProbesView>(`/api/v1/services/default/${name}/probes`);
  const { state, reason, message, trouble, remarks, frontends, pools, access } = detail;
  return [
    state,
    ...(message === undefined ? [] : [`${reason}: ${message}`]),
    ...trouble,
    ...probes.trouble,
    ...remarks.map((remark) => `works, but: ${remark.message}`),
    ...frontends.flatMap(({ rules }) => rules.flatMap(({ probe }) => (probe === undefined ? [] : [`probe ${probe}`]))),
    ...pools.flatMap(({ name: pool, counts, members }) => {
      const behind = members.filter(({ hasEndpoint }) => hasEndpoint === true).length;
      return [
        `pool ${pool}: ${counts.down} of ${counts.members} members Down`,
        `pool ${pool}: ${behind} of ${counts.members} members with a ready endpoint`,
      ];
    }),
    ...access.map(({ access: what, sources }) => `${what} from ${sources.join(", ")}`),
  ].join("\n");
}

/** Without what differs each time, and what a table cannot hold. */
function cell(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/\b(?!10\.9\.9\.9|203\.0\.113\.0)\d+\.\d+\.\d+\.\d+\b/g, "ADDRESS")
    .replaceAll(/\ba[\da-f]{31}\b/g, "aUID")
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, "ID")
    .replaceAll(/\b(for|in) \d+ s\b/g, "$1 N s")
    .replaceAll(/vmss\d{6}/g, "NODE")
    .replace(/\. Written: .*$/, ". Written: …")
    .replace(/but \d+ published Services \([^)]*\)/, "but N published Services (…)")
    .replaceAll("\n", " ")
    .replaceAll("|", "\\|")
    .replaceAll(/ {2,}/g, " ")
    .trim();
}
