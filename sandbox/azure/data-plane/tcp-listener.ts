/** Listens on a TCP frontend and forwards admitted connections, which survive changes of the rule. */
import { createServer, type AddressInfo, type Socket } from "node:net";

import type { Admission } from "./admit-flow.ts";
import type { Client } from "./flow-table.ts";
import type { Frontend, Member } from "./forwarding.ts";
import type { FlowAcceptor, FrontendListener } from "./flow-acceptor.ts";
import { LOOPBACK } from "../../shared/loopback.ts";
import { forwardTcp, type IdlePolicy, type TcpFlow } from "./tcp-flow.ts";

interface Established {
  readonly flow: TcpFlow;
  readonly member: Member;
}

export function tcpListener(acceptor: FlowAcceptor, first: Frontend): FrontendListener {
  let frontend = first;
  const established = new Set<Established>();
  /** Flows with open sockets, including those dropped for idleness. */
  const flows = new Set<TcpFlow>();
  /** All client sockets, including those refused silently. */
  const clients = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, arrive);

  function arrive(socket: Socket): void {
    socket.on("error", () => {});
    const { remoteAddress, remotePort } = socket;
    if (remoteAddress === undefined || remotePort === undefined) return void socket.destroy();
    clients.add(socket);
    socket.once("close", () => clients.delete(socket));
    const { admission, client } = acceptor.receive(frontend, remoteAddress, remotePort);
    if (admission.kind === "forward") forward(socket, admission, client);
    else refuse(acceptor, socket);
  }

  function forward(socket: Socket, { member, targetPort }: Admission & { kind: "forward" }, client: Client): void {
    const flow = forwardTcp({
      client: socket,
      targetPort,
      clock: acceptor.clock,
      idle: () => idlePolicy(acceptor, frontend),
      onEnd: (reason) => {
        established.delete(entry);
        acceptor.flowTable.closed(frontend, member, client, reason);
      },
      onMemberRefused: () => {
        established.delete(entry);
        acceptor.flowTable.refused(frontend, client, { reason: "memberRefused", member });
      },
      onReleased: () => {
        flows.delete(flow);
        acceptor.freeSlot();
      },
    });
    const entry = { flow, member };
    established.add(entry);
    flows.add(flow);
  }

  function reconsider(): void {
    if (established.size === 0) return;
    const cutOff = acceptor.cutOff(frontend);
    const down = addresses(acceptor.settings().resetOnDown ? downMembers(frontend) : []);
    for (const { flow, member } of established) {
      const reason = cutOff.get(member.ip);
      if (reason !== undefined) flow.reset(reason);
      else if (down.has(member.ip)) flow.reset("down");
      else flow.recheckIdle();
    }
  }

  return {
    get frontend() {
      return frontend;
    },
    get port() {
      return (server.address() as AddressInfo | null)?.port ?? 0;
    },
    open: () =>
      new Promise((resolve, reject) => {
        server.on("error", reject);
        server.listen(0, LOOPBACK, resolve);
      }),
    serve(next) {
      frontend = next;
    },
    reconsider,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const flow of flows) flow.reset("gone");
      for (const client of clients) client.destroy();
      await closed;
    },
  };
}

/** Resets the client, or leaves it unanswered; it then holds a slot until it gives up. */
function refuse(acceptor: FlowAcceptor, socket: Socket): void {
  if (acceptor.settings().refused === "reset" || !acceptor.takeSlot()) {
    socket.resetAndDestroy();
    return;
  }
  socket.once("close", () => acceptor.freeSlot());
  socket.once("end", () => socket.destroy()).resume();
}

function idlePolicy(acceptor: FlowAcceptor, { rule }: Frontend): IdlePolicy {
  return { afterMs: rule.idleTimeoutMs * acceptor.settings().idleTimeoutFactor, reset: rule.tcpReset };
}

/** Admin state has no effect on a rule without a probe. */
function downMembers({ rule }: Frontend): Member[] {
  return rule.probe === undefined ? [] : rule.members.filter((member) => member.adminState === "Down");
}

function addresses(members: readonly Member[]): Set<string> {
  return new Set(members.map(({ ip }) => ip));
}
