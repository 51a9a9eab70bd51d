/** Thousands of lost connections of every kind leave nothing behind: no socket, no listener, no memory. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { HttpTransport } from "../../../src/kube/client/http-transport.ts";
import { KubeClient } from "../../../src/kube/client/kube-client.ts";
import { LiveCredentials } from "../../../src/kube/client/live-credentials.ts";
import { Reflector } from "../../../src/kube/cache/reflector.ts";
import { SERVICES, type KubeObject } from "../../../src/kube/client/resources.ts";
import { campaign } from "../../support/campaign.ts";
import { eventually } from "../../support/eventually.ts";
import { acceleratedClock } from "../../support/accelerated-clock.ts";
import { seededRandom } from "../../support/virtual-clock.ts";

const OBJECTS = 20;
const RECONNECTS = campaign({ sample: 3_000, long: 10_000 });
/** The heap of the client and of this server has its size by then. */
const WARM_UP = 1_500;
/** So that pauses between attempts are next to nothing. */
const SPEED = 50_000;
/** A machine may be ten times slower than ours. */
const WITHIN_MS = 200_000;
const MOST_GROWTH_BYTES = 4_000_000;

/** Ends every connection, each in another way. */
class BadServer {
  readonly http: Server;
  requests = 0;
  #version = 100;

  constructor() {
    this.http = createServer((request, response) => {
      this.requests += 1;
      const { searchParams } = new URL(request.url ?? "/", "http://x");
      if (searchParams.has("sendInitialEvents")) this.#stream(response);
      else if (searchParams.has("watch")) WAYS_TO_END[this.requests % WAYS_TO_END.length]!(response, this.#event());
      else response.end(JSON.stringify({ metadata: { resourceVersion: String(this.#version) }, items: this.#items() }));
    });
  }

  #items(): KubeObject[] {
    return Array.from({ length: OBJECTS }, (_, index) => this.#object(index));
  }

  #object(index: number): KubeObject {
    const changed = index === 0 ? this.#version : 1;
    return { metadata: { name: `s-${index}`, namespace: "n", uid: `u-${index}`, resourceVersion: String(changed) } };
  }

  #event(): string {
    this.#version += 1;
    return `${JSON.stringify({ type: "MODIFIED", object: { ...this.#object(0), spec: this.#version } })}\n`;
  }

  #stream(response: ServerResponse): void {
    for (const object of this.#items()) response.write(`${JSON.stringify({ type: "ADDED", object })}\n`);
    const annotations = { "k8s.io/initial-events-end": "true" };
    const object = { metadata: { resourceVersion: String(this.#version), annotations } };
    response.end(`${JSON.stringify({ type: "BOOKMARK", object })}\n`);
  }
}

const WAYS_TO_END: readonly ((response: ServerResponse, event: string) => void)[] = [
  (response, event) => response.end(event),
  (response) => response.end(),
  (response, event) => response.write(event.slice(0, 20), () => response.destroy()),
  (response, event) => response.write(event, () => response.destroy()),
  (response) => response.destroy(),
  (response) => response.writeHead(500).end("down"),
  (response) => response.writeHead(429, { "retry-after": "0" }).end("{}"),
  (response) => response.end('{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n'),
];

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function connections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
}

test(`${RECONNECTS} reconnects`, async (t) => {
  const server = new BadServer();
  await new Promise<void>((resolve) => server.http.listen(0, "127.0.0.1", resolve));
  const clock = acceleratedClock(SPEED);
  const access = {
    server: `http://127.0.0.1:${(server.http.address() as AddressInfo).port}`,
    namespace: "n",
    identity: { kind: "none" },
  } as const;
  const transport = new HttpTransport(new LiveCredentials(access, clock));
  const reflector = new Reflector<KubeObject>({
    client: new KubeClient({ transport, clock, timeoutMs: 30_000 * SPEED }),
    resource: SERVICES,
    clock,
    random: seededRandom(1),
    project: (object) => object,
    silenceMs: 100_000 * SPEED,
    openingMs: 30_000 * SPEED,
  });
  const stop = new AbortController();
  const run = reflector.run(stop.signal);
  t.after(async () => {
    stop.abort(new Error("the test is over"));
    await run;
    await transport.close();
    server.http.close();
    await eventually(async () => assert.equal(await connections(server.http), 0), WITHIN_MS);
  });

  await eventually(() => assert.ok(server.requests >= WARM_UP), WITHIN_MS);
  const beforeBytes = heapBytes();
  await eventually(() => assert.ok(server.requests >= RECONNECTS), WITHIN_MS);
  const grownBytes = heapBytes() - beforeBytes;
  assert.ok(grownBytes < MOST_GROWTH_BYTES, `the heap grew by ${grownBytes} bytes`);
  assert.equal(reflector.store.size, OBJECTS);
  await eventually(() => {
    assert.ok(getEventListeners(stop.signal, "abort").length <= 3, "listeners pile up");
    const sockets = process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
    assert.ok(sockets <= 6, `${sockets} sockets are open`); // one connection has two ends here, and one may be closing
  }, WITHIN_MS);
});
