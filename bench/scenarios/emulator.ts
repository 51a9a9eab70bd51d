/**
 * The cost of the emulator itself, so that other benchmarks can be read correctly: GET and PUT of a 1 MB load balancer without
 * latency, over HTTPS against a separate process; and, inside one process, the emulator's share of a PUT (model, store
 * without journal, audit diff) compared with parsing and writing the JSON.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { differences } from "../../sandbox/azure/control/diff.ts";
import { SANDBOX_ACCOUNT } from "../../sandbox/azure/index.ts";
import type { ArmRequest } from "../../sandbox/azure/model/index.ts";
import { applySeed } from "../../sandbox/azure/seed/seed.ts";
import { seedScopeOf } from "../../sandbox/azure/seed/scope.ts";
import { DEFAULT_TOPOLOGY, topologyResources } from "../../sandbox/azure/seed/topology.ts";
import { openAzureStore } from "../../sandbox/azure/store/azure-store.ts";
import { largeLoadBalancer } from "../support/large-load-balancer.ts";
import { atMost, type BenchReport } from "../report.ts";

/** The emulator's own work may take this many times as long as the JSON. */
const MOST_OWN_SHARE = 5;
const WARM_UP = 10;
const ROUNDS = 40;
const CONCURRENCY = 4;
const VERSION = "2025-05-01";

export async function benchEmulator(): Promise<BenchReport> {
  const inside = measureInside();
  const outside = await measureOverHttps();
  return {
    scenario: "emulator",
    figures: { ...outside, ...inside.figures },
    bars: { "own share of a PUT, times its JSON": atMost(inside.ownShare, MOST_OWN_SHARE) },
    notes: ["limits raised: backendIpConfigurationsPerLoadBalancer (300 rules on 1,000 members)"],
  };
}

const LIMITS = { backendIpConfigurationsPerLoadBalancer: 10_000_000, rulesPerNic: 10_000 };

function measureInside(): { figures: Record<string, number>; ownShare: number } {
  const nowMs = (): number => Date.now();
  const guid = (): string => randomUUID();
  const store = openAzureStore({ directory: undefined, options: { limits: LIMITS }, nowMs });
  const places = seedScopeOf(SANDBOX_ACCOUNT);
  const large = largeLoadBalancer(places.group, places.location);
  applySeed([...topologyResources(SANDBOX_ACCOUNT, DEFAULT_TOPOLOGY), ...large.prerequisites], { store, nowMs, guid });
  const draws = { guid, tailMs: () => 0, retryAfterSeconds: () => undefined };
  const times = { parse: [] as number[], own: [] as number[], write: [] as number[] };
  let bytes = 0;
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    const text = JSON.stringify({ ...(large.body as object), tags: { round: String(round) } });
    const [parseMs, body] = timed(() => JSON.parse(text) as unknown);
    const put: ArmRequest = {
      method: "PUT",
      path: large.path,
      query: { "api-version": VERSION },
      headers: {},
      body,
      nowMs: nowMs(),
      baseUrl: "https://localhost",
    };
    const [ownMs, answer] = timed(() => {
      const handled = store.handle(put, draws);
      for (const { before, after } of handled.touched) differences(before?.body, after?.body);
      return handled.response;
    });
    if (answer.status >= 300) throw new Error(`PUT was refused: ${JSON.stringify(answer.body)}`);
    const [writeMs, reply] = timed(() => JSON.stringify(answer.body));
    bytes = reply.length;
    if (round < WARM_UP) continue;
    times.parse.push(parseMs);
    times.own.push(ownMs);
    times.write.push(writeMs);
  }
  const [parse, own, write] = [median(times.parse), median(times.own), median(times.write)];
  return {
    figures: {
      "answer, bytes": bytes,
      "PUT: parse JSON, ms": parse,
      "PUT: write JSON, ms": write,
      "PUT: emulator's own, ms": own,
      "PUT: JSON's share": (parse + write) / (parse + write + own),
    },
    ownShare: own / (parse + write),
  };
}

async function measureOverHttps(): Promise<Record<string, number>> {
  const limits = Object.entries(LIMITS).map(([name, value]) => `${name}=${value}`);
  const child = spawn(join(import.meta.dirname, "../../bin/azlb"), ["azure", "--json", "--limits", limits.join(",")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const line = await firstLine(child.stdout);
    return await drive(line);
  } finally {
    child.kill("SIGTERM");
  }
}

interface Line {
  readonly armEndpoint: string;
  readonly caFile: string;
  readonly azureControlUrl: string;
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  readonly env: Readonly<Record<string, string>>;
}

async function drive(line: Line): Promise<Record<string, number>> {
  const large = largeLoadBalancer(
    `/subscriptions/${line.subscriptionId}/resourceGroups/${line.resourceGroup}`,
    SANDBOX_ACCOUNT.location,
  );
  await fetch(`${line.azureControlUrl}/seed`, {
    method: "POST",
    body: JSON.stringify({ resources: large.prerequisites }),
    headers: { "content-type": "application/json" },
  });
  const send = await sender(line);
  const url = `${line.armEndpoint}${large.path}?api-version=${VERSION}`;
  const texts = Array.from({ length: ROUNDS + WARM_UP }, (_, round) =>
    JSON.stringify({ ...(large.body as object), tags: { round: String(round) } }),
  );
  let sent = 0;
  const put = (): Promise<void> => send("PUT", url, texts[sent++ % texts.length]);
  await repeat(put, WARM_UP, 1);
  const puts = await repeat(put, ROUNDS, 1);
  const get = (): Promise<void> => send("GET", url, undefined);
  await repeat(get, WARM_UP, 1);
  const gets = await repeat(get, ROUNDS, 1);
  const parallel = await repeat(get, ROUNDS * CONCURRENCY, CONCURRENCY);
  return {
    "GET, per second": gets,
    [`GET, per second, ${CONCURRENCY} at once`]: parallel,
    "PUT, per second": puts,
  };
}

async function sender(line: Line): Promise<(method: string, url: string, text: string | undefined) => Promise<void>> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY, ca: readFileSync(line.caFile) });
  const identity = `${line.env["IDENTITY_ENDPOINT"]}?resource=https://management.azure.com/`;
  const signedIn = await fetch(identity, { headers: { "x-identity-header": line.env["IDENTITY_HEADER"] ?? "" } });
  const { access_token: token } = (await signedIn.json()) as { access_token: string };
  return (method, url, text) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const call = request(url, { method, agent, headers }, (response) => {
        response.resume();
        response.on("end", () => {
          if ((response.statusCode ?? 500) < 300) resolve();
          else reject(new Error(`${method} ${url} answered ${response.statusCode}`));
        });
      });
      call.on("error", reject);
      call.end(text);
    });
}

/** Calls per second. */
async function repeat(call: () => Promise<void>, times: number, concurrency: number): Promise<number> {
  const started = performance.now();
  let left = times;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return (times * 1000) / (performance.now() - started);
}

function firstLine(output: NodeJS.ReadableStream): Promise<Line> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: output });
    lines.once("line", (line) => resolve(JSON.parse(line) as Line));
    lines.once("close", () => reject(new Error("azlb azure ended before it was ready")));
  });
}

function timed<Value>(work: () => Value): [number, Value] {
  const started = performance.now();
  const value = work();
  return [performance.now() - started, value];
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
