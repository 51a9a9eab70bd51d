/**
 * Forwards one TCP connection: bytes and half-closes pass both ways, a reset on one side resets the other. The flow ends
 * when both sides close, when its idle timeout expires, or when the caller resets it.
 *
 *   idle, with TCP reset     | both sides are reset
 *   idle, without            | neither side is notified; later bytes are dropped
 */
import { connect, type Socket } from "node:net";

import type { Clock, Timer } from "./clock.ts";
import { LOOPBACK } from "../../shared/loopback.ts";

export interface IdlePolicy {
  readonly afterMs: number;
  readonly reset: boolean;
}

export interface TcpFlowOptions {
  readonly client: Socket;
  readonly targetPort: number;
  readonly clock: Clock;
  /** Read on every use: rules and settings may change during a connection. */
  readonly idle: () => IdlePolicy;
  /** The load balancer has ended the flow; its sockets may still be open. */
  readonly onEnd: (reason: string) => void;
  /** The target refused the connection; called instead of `onEnd`. */
  readonly onMemberRefused: () => void;
  /** Both sockets are closed. */
  readonly onReleased: () => void;
}

export interface TcpFlow {
  reset(reason: string): void;
  /** The idle policy may have changed. */
  recheckIdle(): void;
}

export function forwardTcp(options: TcpFlowOptions): TcpFlow {
  const { client, clock } = options;
  const member = connect({ host: LOOPBACK, port: options.targetPort, allowHalfOpen: true, noDelay: true });
  const sides = [client, member] as const;
  let isConnected = false;
  let isOver = false;
  let lastActiveMs = clock.nowMs();
  let timer: Timer | undefined;

  function end(tell: () => void): void {
    if (isOver) return;
    isOver = true;
    timer?.cancel();
    tell();
  }

  function reset(reason: string): void {
    end(() => options.onEnd(reason));
    for (const side of sides) side.resetAndDestroy();
  }

  function recheckIdle(): void {
    timer?.cancel();
    if (isOver) return;
    const { afterMs, reset: withReset } = options.idle();
    const leftMs = lastActiveMs + afterMs - clock.nowMs();
    if (leftMs > 0) timer = clock.setTimer(leftMs, recheckIdle);
    else if (withReset) reset("idle");
    else forget();
  }

  /** Drops the connection silently: bytes are no longer forwarded, and neither side is notified. */
  function forget(): void {
    end(() => options.onEnd("idle"));
    client.unpipe(member);
    member.unpipe(client);
    for (const side of sides) {
      if (side.readableEnded) side.destroy();
      else side.once("end", () => side.destroy()).resume();
    }
  }

  function join(): void {
    isConnected = true;
    const active = (): void => {
      lastActiveMs = clock.nowMs();
    };
    client.on("data", active).pipe(member);
    member.on("data", active).pipe(client);
  }

  function failed(side: Socket, other: Socket, name: string): void {
    if (isOver) {
      side.destroy();
      return;
    }
    if (side === member && !isConnected) end(options.onMemberRefused);
    else end(() => options.onEnd(`reset by ${name}`));
    other.resetAndDestroy();
  }

  let open = sides.length;
  const released = (): void => {
    if (--open > 0) return;
    end(() => options.onEnd("closed"));
    options.onReleased();
  };
  member.once("connect", join);
  client.on("error", () => failed(client, member, "client"));
  member.on("error", () => failed(member, client, "member"));
  for (const side of sides) side.once("close", released);
  recheckIdle();
  return { reset, recheckIdle };
}
