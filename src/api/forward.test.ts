/** Two servers, one that leads and one that waits: the second passes requests on, to no server but the first. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { ApiClient } from "../../test/support/api-client.ts";
import { SILENT_LOG } from "../core/util/log.ts";
import { realClock } from "../main/real-clock.ts";
import { LiveView } from "./api-source.ts";
import { type RunningApi, startApi } from "./api-server.ts";
import type { Authorizer } from "./authorizer.ts";
import { selfSigned } from "./certificate.ts";
import { type LeaderApi, readApi, writtenApi } from "./forward.ts";

const LEADER_KEYS = selfSigned("leader.example", Date.now());
const STANDBY_KEYS = selfSigned("127.0.0.1", Date.now());
const WRITTEN = { url: "https://10.0.0.1:10360", cert: LEADER_KEYS.cert };

function view(isLeading: boolean): LiveView {
  const leader = { leads: isLeading, identity: isLeading ? "first" : "second", holder: "first" };
  return new LiveView({
    version: "1",
    clusterName: leader.identity,
    driftPolicy: "report",
    clock: realClock,
    picture: () => undefined,
    isReady: () => isLeading,
    leader: () => leader,
    throttle: () => [],
    probeResult: () => Promise.resolve(undefined),
    writes: () => ({ sequence: 0, writes: [] }),
  });
}

const tokens: (string | undefined)[] = [];
const authorizer: Authorizer = {
  admit: (token) => {
    tokens.push(token);
    return Promise.resolve(token === "secret" ? "granted" : "unauthenticated");
  },
};

let leader: RunningApi;
let standby: RunningApi;
let known: LeaderApi | undefined;
before(async () => {
  const common = { host: "127.0.0.1", port: 0, authorizer, files: new Map(), log: SILENT_LOG };
  leader = await startApi({ ...common, live: view(true), keys: LEADER_KEYS, leaderApi: () => undefined });
  standby = await startApi({ ...common, live: view(false), keys: STANDBY_KEYS, leaderApi: () => known });
});
after(async () => {
  await standby.close();
  await leader.close();
});

const ask = (token?: string, headers: Readonly<Record<string, string>> = {}) =>
  new ApiClient(standby.url, { ca: STANDBY_KEYS.cert, ...(token && { token }) }).answer("/api/v1/overview", headers);

test("a standby answers with what the leader says, streams too; the leader asks for the token", async () => {
  known = { url: leader.url, cert: LEADER_KEYS.cert };
  const { status, text } = await ask("secret");
  assert.deepEqual([status, (JSON.parse(text) as { cluster: string }).cluster], [200, "first"]);
  assert.equal((await ask()).status, 401);
  const stream = await new ApiClient(standby.url, { ca: STANDBY_KEYS.cert, token: "secret" }).stream("/api/v1/changes");
  await stream.until<{ cluster: string }>(({ cluster }) => cluster === "first");
  stream.close();
});

test("what presents another certificate gets no token", async () => {
  known = { url: leader.url, cert: selfSigned("leader.example", Date.now()).cert };
  tokens.length = 0;
  const { status, text } = await ask("secret");
  assert.equal(status, 503);
  assert.match(text, /first leads, and this process waits: ask that one \(it did not answer here: self-signed/);
  assert.deepEqual(tokens, []);
});

test("two that wait for each other do not pass a request on for ever", async () => {
  known = { url: standby.url, cert: STANDBY_KEYS.cert };
  const { status, text } = await ask("secret");
  assert.deepEqual([status, (JSON.parse(text) as { cluster: string }).cluster], [200, "second"]);
});

test("where the leader is stands in the Lease, and that of a former holder is not believed", () => {
  const text = writtenApi("first", { ...WRITTEN, cert: `${WRITTEN.cert}${STANDBY_KEYS.cert}` });
  const read = readApi(text, "first");
  assert.deepEqual([read?.url, read?.cert.trim()], [WRITTEN.url, WRITTEN.cert.trim()]);
  assert.equal(readApi(text, "second"), undefined);
  for (const wrong of [undefined, "", "{", '{"holder":"first","url":"http://10.0.0.1","cert":"x"}'])
    assert.equal(readApi(wrong, "first"), undefined);
});
