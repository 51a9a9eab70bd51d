import assert from "node:assert/strict";
import { test } from "node:test";

import { ReadOnlyTransport } from "./read-only-transport.ts";
import type { ArmTransport } from "./transport.ts";

test("reads pass; a write fails before it leaves", async () => {
  const sent: string[] = [];
  const inner: ArmTransport = {
    send: async ({ method }) => {
      sent.push(method);
      return { status: 200, headers: {}, body: "" };
    },
    close: async () => {},
  };
  const transport = new ReadOnlyTransport(inner);
  const send = (method: Parameters<ArmTransport["send"]>[0]["method"]): Promise<unknown> =>
    transport.send({ method, url: "https://management.azure.com/x", headers: {} });
  for (const method of ["GET", "HEAD"] as const) await send(method);
  for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const) await assert.rejects(send(method), /only reads/);
  assert.deepEqual(sent, ["GET", "HEAD"]);
});
