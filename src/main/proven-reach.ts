/**
 * A real connection beside what `azlb reach` concludes: where Azure is emulated with its data plane, a client with the packet's source
 * connects, and the data plane tells what became of it. For TCP; `undefined` where there is no such data plane, or it cannot be asked.
 */
import { randomInt } from "node:crypto";
import { connect, type Socket } from "node:net";

import type { Reach } from "../core/reach/reach-service.ts";
import { realClock } from "./real-clock.ts";

export interface Connection {
  readonly isForwarded: boolean;
  /** The member that it was forwarded to, or why it was not. */
  readonly met: string;
}

interface DataPlane {
  readonly frontends: readonly { readonly listener: { readonly host: string; readonly port: number } }[];
  readonly settings: { readonly sources: Readonly<Record<string, string>> };
}

interface FlowEntry {
  readonly event: string;
  readonly client?: string;
  /** Another process may have changed it meanwhile. */
  readonly source?: string;
  readonly node?: string;
  readonly member?: string;
  readonly reason?: string;
  readonly securityRule?: string;
}

const WITHIN_MS = 3_000;
const POLL_MS = 25;

export async function connectionOf(
  control: string | undefined,
  { address, port, protocol }: Pick<Reach, "address" | "port" | "protocol">,
  from: string,
): Promise<Connection | undefined> {
  if (control === undefined || address === undefined || protocol !== "TCP") return undefined;
  try {
    const query = new URLSearchParams({ address, port: String(port), protocol });
    const { frontends, settings } = (await ask(control, "GET", `/data-plane?${query.toString()}`)) as DataPlane;
    const listener = frontends[0]?.listener;
    if (listener === undefined) return undefined;
    // an address of its own, so that clients beside it keep their sources
    const localAddress = `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
    await ask(control, "PATCH", "/data-plane", { sources: { ...settings.sources, [localAddress]: from } });
    try {
      const socket = await opened({ ...listener, localAddress });
      return await metBy(control, socket, ({ client, source }) => {
        return client?.startsWith(`${localAddress}:`) === true && source === from;
      });
    } finally {
      await ask(control, "PATCH", "/data-plane", { sources: settings.sources });
    }
  } catch {
    return undefined;
  }
}

/** One that is refused is reset, perhaps before it is seen to be there: the data plane says why. */
function opened(to: { host: string; port: number; localAddress: string }): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(to, () => resolve(socket));
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNRESET") resolve(socket);
      else reject(error);
    });
  });
}

/** What the data plane has noted of it. The connection ends here. */
async function metBy(
  control: string,
  socket: Socket,
  isOwn: (entry: FlowEntry) => boolean,
): Promise<Connection | undefined> {
  socket.end();
  try {
    const endMs = realClock.monotonicMs() + WITHIN_MS;
    for (;;) {
      const { entries } = (await ask(control, "GET", "/flows")) as { entries: readonly FlowEntry[] };
      const own = entries.filter(isOwn);
      const refused = own.find(({ event }) => event === "refused");
      if (refused !== undefined) return { isForwarded: false, met: reasonOf(refused) };
      const [first] = own;
      const isOver = own.some(({ event }) => event === "closed") || realClock.monotonicMs() > endMs;
      if (isOver) return first && { isForwarded: true, met: first.node ?? first.member ?? "a member" };
      await realClock.sleep(POLL_MS);
    }
  } finally {
    socket.destroy();
  }
}

function reasonOf({ reason = "refused", securityRule }: FlowEntry): string {
  return securityRule === undefined ? reason : `${reason} ${securityRule}`;
}

async function ask(control: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const signal = AbortSignal.timeout(WITHIN_MS);
  const sent = { method, signal, ...(body !== undefined && { headers, body: JSON.stringify(body) }) };
  const answer = await fetch(`${control}${path}`, sent);
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`);
  return answer.json();
}
