/** One forwarded connection with real sockets, and a clock that stands still unless told. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { test, type TestContext } from "node:test";

import { VirtualClock } from "../../../test/support/virtual-clock.ts";
import { forwardTcp } from "./tcp-flow.ts";

const IDLE_MS = 240_000;

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** A client, the flow, and the member at its end; everything is closed after the test. */
async function joined(context: TestContext, { reset }: { reset: boolean }) {
  const clock = new VirtualClock(0);
  const ends: string[] = [];
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const members = createServer({ allowHalfOpen: true });
  const targetPort = await listening(members);
  const front = createServer({ allowHalfOpen: true });
  const client = connect(await listening(front), "127.0.0.1");
  const [arrived] = (await once(front, "connection")) as [Socket];
  const flow = forwardTcp({
    client: arrived,
    targetPort,
    clock,
    idle: () => ({ afterMs: IDLE_MS, reset }),
    onEnd: (reason) => ends.push(reason),
    onMemberRefused: () => ends.push("memberRefused"),
    onReleased: release,
  });
  const [member] = (await once(members, "connection")) as [Socket];
  for (const socket of [client, member]) socket.on("error", () => {});
  context.after(() => {
    flow.reset("test is over");
    for (const socket of [client, member]) socket.destroy();
    for (const server of [members, front]) server.close();
  });
  return { clock, ends, flow, client, member, released };
}

/** Resolves with the code of the error that closed it, or `null`. */
function closing(socket: Socket): Promise<string | null> {
  const codeOf = (): string | null => (socket.errored as { code?: string } | null)?.code ?? null;
  return new Promise((resolve) => socket.once("close", () => resolve(codeOf())));
}

async function pass(from: Socket, to: Socket, text: string): Promise<void> {
  from.write(text);
  const [chunk] = (await once(to, "data")) as [Buffer];
  assert.equal(chunk.toString(), text);
}

test("traffic in either direction keeps a connection from being idle", async (context) => {
  const { clock, ends, client, member } = await joined(context, { reset: true });
  for (const [from, to] of [
    [client, member],
    [member, client],
  ] as const) {
    await clock.advance(IDLE_MS - 1);
    await pass(from, to, "still here");
  }
  assert.deepEqual(ends, []);
  await clock.advance(IDLE_MS);
  assert.deepEqual(ends, ["idle"]);
});

test("an idle connection with TCP reset is reset on both sides", async (context) => {
  const { clock, ends, client, member, released } = await joined(context, { reset: true });
  const failures = Promise.all([closing(client), closing(member)]);
  await pass(client, member, "hello");
  await clock.advance(2 * IDLE_MS);
  assert.deepEqual(await failures, ["ECONNRESET", "ECONNRESET"]);
  await released;
  assert.deepEqual(ends, ["idle"]);
  assert.equal(clock.timers, 0);
});

test("an idle connection without it passes nothing on, and its ends part one by one", async (context) => {
  const { clock, ends, client, member, released } = await joined(context, { reset: false });
  await pass(client, member, "hello");
  await clock.advance(2 * IDLE_MS);
  assert.deepEqual(ends, ["idle"]);
  let heard = false;
  member.on("data", () => (heard = true));
  client.end("hello?");
  await closing(client.resume());
  assert.equal(member.readableEnded, false);
  member.end();
  await released;
  assert.equal(heard, false);
  assert.deepEqual(ends, ["idle"]);
});

test("a reset by the member is a reset for the client", async (context) => {
  const { ends, client, member, released } = await joined(context, { reset: false });
  await pass(client, member, "hello");
  const failure = closing(client);
  member.resetAndDestroy();
  assert.equal(await failure, "ECONNRESET");
  await released;
  assert.deepEqual(ends, ["reset by member"]);
});

test("a connection that both sides end is closed", async (context) => {
  const { ends, client, member, released, clock } = await joined(context, { reset: false });
  member.on("end", () => member.end("bye")).resume();
  client.end("hello");
  await once(client.resume(), "end");
  await released;
  assert.deepEqual(ends, ["closed"]);
  assert.equal(clock.timers, 0);
});
