/** The data plane of an emulator, asked through its control endpoint, and clients that go through its frontends. */
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { connect } from "node:net";

import type { FlowEntry, FrontendView, MemberView } from "../../sandbox/azure/index.ts";
import { eventually } from "./eventually.ts";

/** Long enough for a busy machine; nothing waits that long when all is well. */
export const PATIENCE_MS = 60_000;

export interface DataPlaneUnderTest {
  /** `{"10.240.0.4": {"30080": 41234, "*": 41235}}`; adds to what is there, `null` takes out. */
  map(table: unknown): Promise<unknown>;
  settings(patch: unknown): Promise<unknown>;
  /** The frontend of an address and port; waits until it is there. */
  frontend(address: string, port: number, protocol?: "Tcp" | "Udp"): Promise<FrontendView>;
  frontends(): Promise<readonly FrontendView[]>;
  /** Waits until exactly these members, by address, get new flows there. */
  eligible(address: string, port: number, members: readonly string[], protocol?: "Tcp" | "Udp"): Promise<FrontendView>;
  flows(query?: Readonly<Record<string, string>>): Promise<readonly FlowEntry[]>;
}

export function dataPlaneAt(controlUrl: string): DataPlaneUnderTest {
  async function ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${controlUrl}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  async function frontends(query = ""): Promise<readonly FrontendView[]> {
    return ((await ask("GET", `/data-plane${query}`)) as { frontends: FrontendView[] }).frontends;
  }

  async function waitFor(
    address: string,
    port: number,
    protocol: "Tcp" | "Udp",
    check: (found: FrontendView) => void,
  ): Promise<FrontendView> {
    let last: FrontendView | undefined;
    await eventually(async () => {
      const query = new URLSearchParams({ address, port: String(port), protocol });
      [last] = await frontends(`?${query.toString()}`);
      assert.ok(last, `no frontend ${address}:${port}/${protocol}`);
      check(last);
    }, PATIENCE_MS);
    return last ?? assert.fail();
  }

  return {
    map: (table) => ask("POST", "/members", table),
    settings: (patch) => ask("PATCH", "/data-plane", patch),
    frontends: () => frontends(),
    frontend: (address, port, protocol = "Tcp") => waitFor(address, port, protocol, () => {}),
    eligible: (address, port, members, protocol = "Tcp") =>
      waitFor(address, port, protocol, (found) => {
        const eligible = found.members.filter((member) => member.eligible).map(({ ip }) => ip);
        assert.deepEqual(eligible.sort(), [...members].sort());
      }),
    async flows(query = {}) {
      const answer = await ask("GET", `/flows?${new URLSearchParams(query).toString()}`);
      return (answer as { entries: FlowEntry[] }).entries;
    },
  };
}

export function memberAt({ members }: FrontendView, ip: string): MemberView {
  return members.find((member) => member.ip === ip) ?? assert.fail(`${ip} is no member`);
}

async function inTime<Value>(coming: Promise<Value>, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${PATIENCE_MS} ms for ${what}`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([coming, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A connection to an echo backend through a frontend. */
export interface HeldConnection {
  /** Name of the backend that it reached. */
  readonly backend: string;
  /** Says a line and resolves with the one that comes back. */
  say(line: string): Promise<string>;
  /** Sends a line and waits for nothing. */
  whisper(line: string): void;
  /** Ends our side, and resolves with what still came from the other. */
  finish(): Promise<string>;
  /** Resolves with `reset` or `end` once the other side is gone. */
  gone(): Promise<"reset" | "end">;
  destroy(): void;
}

/** Rejects when the connection is refused. */
export async function openConnection(port: number, localAddress = "127.0.0.1"): Promise<HeldConnection> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  let unread = "";
  let wake = (): void => {};
  let fate: "reset" | "end" | undefined;
  const gone = new Promise<"reset" | "end">((resolve) => {
    const end = (how: "reset" | "end") => (): void => {
      fate ??= how;
      resolve(fate);
      wake();
    };
    socket.on("error", end("reset")).on("end", end("end")).on("close", end("end"));
  });
  socket.on("data", (chunk: Buffer) => {
    unread += chunk.toString();
    wake();
  });
  const line = async (): Promise<string> => {
    while (!unread.includes("\n")) {
      if (fate !== undefined) throw new Error(`connection is gone: ${fate}`);
      await inTime(new Promise<void>((resolve) => (wake = resolve)), "a line");
    }
    const [first = "", ...rest] = unread.split("\n");
    unread = rest.join("\n");
    return first;
  };
  const backend = await line();
  return {
    backend,
    gone: () => inTime(gone, "the end of a connection"),
    say(text) {
      socket.write(`${text}\n`);
      return line();
    },
    whisper: (text) => void socket.write(`${text}\n`),
    async finish() {
      socket.end();
      await inTime(gone, "the end of a connection");
      return unread;
    },
    destroy: () => void socket.destroy(),
  };
}

/** One connection from start to end: the name of the backend that it reached. */
export async function visit(port: number, localAddress?: string): Promise<string> {
  const connection = await openConnection(port, localAddress);
  await connection.finish();
  return connection.backend;
}

/** A UDP client with one port of its own. */
export async function udpClient(port: number): Promise<{ ask(text: string): Promise<string>; close(): void }> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    /** Asks again until the answer comes: datagrams may be lost, and refused ones are; late answers are to others. */
    async ask(text) {
      const send = (): void => socket.send(text, port, "127.0.0.1");
      const again = setInterval(send, 200);
      send();
      try {
        const answer = new Promise<string>((resolve) =>
          socket.on("message", (datagram) => {
            if (datagram.toString().endsWith(`: ${text}`)) resolve(datagram.toString());
          }),
        );
        return await inTime(answer, "a datagram");
      } finally {
        clearInterval(again);
        socket.removeAllListeners("message");
      }
    },
    close: () => void socket.close(),
  };
}
