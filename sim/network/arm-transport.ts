/**
 * The transport of one process to the simulated Azure. A stale read never is the first read of a path by a process: a new
 * process believes that first answer (docs/reliability.md, known limits). Latency and faults are `network.ts`.
 */
import type { ArmRequest, ArmResponse, ArmTransport } from "../../src/azure/arm/transport.ts";
import { NoAnswerError } from "../../src/azure/arm/transport.ts";
import type { OperationFate } from "../../sandbox/azure/model/index.ts";
import { ARM_URL, type SimulatedAzure } from "../environment/simulated-azure.ts";
import type { Trace } from "../environment/trace.ts";
import { LONGEST_RETRY_AFTER_MS, type CallKind, type Fault } from "./faults.ts";
import { sendCall, type NetworkOptions } from "./network.ts";

export interface SimulatedArmTransportOptions extends NetworkOptions {
  readonly azure: SimulatedAzure;
  readonly trace: Trace;
}

/** Error codes of the refusals that a fault causes. */
const CODES: Readonly<Record<number, string>> = {
  409: "AnotherOperationInProgress",
  412: "PreconditionFailed",
  429: "SubscriptionRequestsThrottled",
  500: "InternalServerError",
  503: "ServiceUnavailable",
};
const FATES: Readonly<Record<string, OperationFate>> = {
  fails: { status: "Failed", code: "InternalServerError", message: "An error occurred." },
  cancelled: { status: "Canceled", code: "Canceled", message: "Operation was canceled." },
};

export class SimulatedArmTransport implements ArmTransport {
  readonly #options: SimulatedArmTransportOptions;
  readonly #asked = new Set<string>();

  constructor(options: SimulatedArmTransportOptions) {
    this.#options = options;
  }

  send(request: ArmRequest): Promise<ArmResponse> {
    const { random, process, trace } = this.#options;
    const path = pathOf(request.url);
    const what = callName(request.method, path);
    return sendCall<ArmResponse>(this.#options, {
      side: "azure",
      call: callOf(request, path),
      what,
      signal: request.signal,
      serve: (fault) => {
        const answer = this.#serve(request, path, fault);
        trace.add(`${process.name} → azure ${what}: ${answer.status}${note(fault)}`, answer.body);
        return answer;
      },
      refuse: (status) => {
        trace.add(`${process.name} → azure ${what}: ${status} (fault)`);
        const code = CODES[status] ?? "InternalServerError";
        const headers =
          status === 429 && random.bool(0.7)
            ? { "retry-after": String(1 + random.below(LONGEST_RETRY_AFTER_MS / 1000)) }
            : {};
        return { status, headers, body: JSON.stringify({ error: { code, message: `a fault: ${code}` } }) };
      },
      broken: (maybeSent) => {
        trace.add(`${process.name} → azure ${what}: no answer (fault)`);
        return new NoAnswerError("the connection broke", maybeSent);
      },
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #serve(request: ArmRequest, path: string, fault: Fault | undefined): ArmResponse {
    const { azure, process } = this.#options;
    const isFirst = !this.#asked.has(path);
    this.#asked.add(path);
    const { status, headers, body } = azure.request({
      caller: process.name,
      method: request.method,
      path,
      query: queryOf(request.url),
      headers: request.headers,
      body: request.body === undefined ? undefined : JSON.parse(request.body),
      fate: FATES[fault?.kind ?? ""],
      isStale: fault?.kind === "stale" && !isFirst,
    });
    return { status, headers, body: textOf(body) };
  }
}

const texts = new WeakMap<object, string>();

/** JSON of a body, cached: the emulator returns the same object, alone and in lists, until the resource changes. */
function textOf(body: unknown): string {
  if (body === undefined) return "";
  if (typeof body !== "object" || body === null) return JSON.stringify(body);
  const { value, ...rest } = body as { readonly value?: unknown };
  if (Array.isArray(value) && Object.keys(rest).length === 0) return `{"value":[${value.map(textOf).join()}]}`;
  const known = texts.get(body) ?? JSON.stringify(body);
  texts.set(body, known);
  return known;
}

/** `PUT Microsoft.Network/loadBalancers/kubernetes`. */
export function callName(method: string, path: string): string {
  return `${method} ${path.slice(path.lastIndexOf("/providers/") + "/providers/".length)}`;
}

export function note(fault: Fault | undefined): string {
  return fault === undefined ? "" : ` (fault: ${fault.kind})`;
}

function callOf({ method }: ArmRequest, path: string): CallKind {
  if (/\/operation(result)?s\//i.test(path)) return "poll";
  return method === "GET" ? "read" : "write";
}

function pathOf(url: string): string {
  const end = url.indexOf("?");
  return decodeURIComponent(url.slice(ARM_URL.length, end === -1 ? undefined : end));
}

function queryOf(url: string): Record<string, string> {
  const start = url.indexOf("?");
  return start === -1 ? {} : Object.fromEntries(new URLSearchParams(url.slice(start + 1)));
}
