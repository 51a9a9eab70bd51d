/**
 * Listens on a UDP frontend. A flow is a client's address and port; it keeps its member while that member is eligible, and
 * its next datagram selects another one otherwise. Refused datagrams are dropped.
 */
import { createSocket, type Socket } from "node:dgram";

import type { Timer } from "./clock.ts";
import type { Client } from "./flow-table.ts";
import type { Frontend, Member } from "./forwarding.ts";
import type { FlowAcceptor, FrontendListener } from "./flow-acceptor.ts";
import { LOOPBACK } from "../../shared/loopback.ts";

/** Azure's UDP idle timeout: load-balancing rules cannot set it. */
const IDLE_MS = 240_000;

interface UdpFlow {
  readonly member: Member;
  readonly client: Client;
  readonly targetPort: number;
  readonly socket: Socket;
  lastActiveMs: number;
  timer: Timer | undefined;
}

export function udpListener(acceptor: FlowAcceptor, first: Frontend): FrontendListener {
  let frontend = first;
  let listeningPort = 0;
  const flows = new Map<string, UdpFlow>();
  const server = createSocket("udp4", (datagram, { address, port }) => {
    const flow = flows.get(`${address}:${port}`) ?? begin(address, port);
    if (flow === undefined) return;
    flow.lastActiveMs = acceptor.clock.nowMs();
    flow.socket.send(datagram, flow.targetPort, LOOPBACK);
  });

  function begin(address: string, port: number): UdpFlow | undefined {
    const { admission, client } = acceptor.receive(frontend, address, port);
    if (admission.kind === "refuse") return undefined;
    const { member, targetPort } = admission;
    const socket = createSocket("udp4", (datagram) => server.send(datagram, port, address));
    socket.on("error", () => end(flow, "error"));
    const flow: UdpFlow = {
      member,
      client,
      targetPort,
      socket,
      lastActiveMs: acceptor.clock.nowMs(),
      timer: undefined,
    };
    flows.set(client.client, flow);
    recheckIdle(flow);
    return flow;
  }

  function recheckIdle(flow: UdpFlow): void {
    flow.timer?.cancel();
    const leftMs = flow.lastActiveMs + IDLE_MS * acceptor.settings().idleTimeoutFactor - acceptor.clock.nowMs();
    if (leftMs > 0) flow.timer = acceptor.clock.setTimer(leftMs, () => recheckIdle(flow));
    else end(flow, "idle");
  }

  function end(flow: UdpFlow, reason: string): void {
    if (flows.get(flow.client.client) !== flow) return;
    flows.delete(flow.client.client);
    flow.timer?.cancel();
    flow.socket.close();
    acceptor.freeSlot();
    acceptor.flowTable.closed(frontend, flow.member, flow.client, reason);
  }

  return {
    get frontend() {
      return frontend;
    },
    get port() {
      return listeningPort;
    },
    open: () =>
      new Promise((resolve, reject) => {
        server.on("error", reject);
        server.bind(0, LOOPBACK, () => {
          listeningPort = server.address().port;
          resolve();
        });
      }),
    serve(next) {
      frontend = next;
    },
    reconsider() {
      if (flows.size === 0) return;
      const eligible = new Set(acceptor.eligible(frontend).map(({ ip }) => ip));
      for (const flow of flows.values()) {
        if (eligible.has(flow.member.ip)) recheckIdle(flow);
        else end(flow, "notEligible");
      }
    },
    async close() {
      for (const flow of flows.values()) end(flow, "gone");
      await new Promise<void>((resolve) => server.close(resolve));
    },
  };
}
