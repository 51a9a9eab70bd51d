/**
 * Sends one probe to a member: succeeds if the connection opens and, for Http and Https, GET returns 200. Certificates
 * are not verified, as in Azure.
 */
import { request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";

import { LOOPBACK } from "../../shared/loopback.ts";
import type { Probe } from "./forwarding.ts";

/** The longest wait for an answer, whatever the interval. */
const LONGEST_TIMEOUT_MS = 30_000;

export interface ProbeTarget {
  readonly probe: Pick<Probe, "protocol" | "port" | "path" | "intervalMs">;
  /** The member's address, for the Host header. */
  readonly ip: string;
  /** The loopback port that it listens on. */
  readonly targetPort: number;
}

export function probeMember(target: ProbeTarget, signal: AbortSignal): Promise<boolean> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(Math.min(target.probe.intervalMs, LONGEST_TIMEOUT_MS))]);
  return target.probe.protocol === "Tcp" ? opens(target, limit) : answersOk(target, limit);
}

function opens({ targetPort }: ProbeTarget, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: LOOPBACK, port: targetPort, signal });
    socket.once("connect", () => {
      resolve(true);
      socket.destroy();
    });
    socket.on("error", () => resolve(false));
    socket.once("close", () => resolve(false));
  });
}

function answersOk({ probe, ip, targetPort }: ProbeTarget, signal: AbortSignal): Promise<boolean> {
  const options: RequestOptions & { rejectUnauthorized: boolean } = {
    host: LOOPBACK,
    port: targetPort,
    path: probe.path,
    agent: false,
    signal,
    rejectUnauthorized: false,
    headers: { host: `${ip.includes(":") ? `[${ip}]` : ip}:${probe.port}`, "user-agent": "Load Balancer Agent" },
  };
  return new Promise((resolve) => {
    const request = (probe.protocol === "Http" ? httpRequest : httpsRequest)(options, (response) => {
      resolve(response.statusCode === 200);
      response.destroy();
    });
    request.on("error", () => resolve(false));
    request.once("close", () => resolve(false));
    request.end();
  });
}
