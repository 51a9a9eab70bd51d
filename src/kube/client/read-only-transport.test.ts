import assert from "node:assert/strict";
import { test } from "node:test";

import { ReadOnlyTransport } from "./read-only-transport.ts";
import type { Transport } from "./transport.ts";

test("reads pass; a write fails before it leaves", async () => {
  const sent: string[] = [];
  const inner: Transport = {
    send: async ({ method }) => {
      sent.push(method);
      return { status: 200, headers: {}, body: (async function* () {})() };
    },
    close: async () => {},
  };
  const transport = new ReadOnlyTransport(inner);
  const send = (method: Parameters<Transport["send"]>[0]["method"]): Promise<unknown> =>
    transport.send({ method, path: "/api/v1/services", headers: {}, signal: new AbortController().signal });
  for (const method of ["GET"] as const) await send(method);
  for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const) await assert.rejects(send(method), /only reads/);
  assert.deepEqual(sent, ["GET"]);
});
