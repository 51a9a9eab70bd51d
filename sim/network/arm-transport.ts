/** One process's wire to Azure. */
import type { ArmRequest, ArmResponse, ArmTransport } from "../../src/azure/arm/transport.ts";
import { NoAnswerError } from "../../src/azure/arm/transport.ts";
import type { OperationFate } from "../../sandbox/azure/model/index.ts";
import { ARM_URL, type AzureSide } from "../environment/simulated-azure.ts";
import type { Trace } from "../environment/trace.ts";
import type { CallKind, Trouble } from "./faults.ts";
import { travel, type WireOptions } from "./network.ts";

export interface ArmWireOptions extends WireOptions {
  readonly azure: AzureSide;
  readonly trace: Trace;
}

/** What Azure says where a trouble makes it refuse. */
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

/**
 * Reads may be stale where a trouble says so, but for the first of a path that a process asks for: what a new process
 * finds nothing of, it lets go (docs/reliability.md).
 */
export class ArmWire implements ArmTransport {
  readonly #options: ArmWireOptions;
  readonly #asked = new Set<string>();

  constructor(options: ArmWireOptions) {
    this.#options = options;
  }

  send(request: ArmRequest): Promise<ArmResponse> {
    const { chance, process, trace } = this.#options;
    const path = pathOf(request.url);
    const what = callName(request.method, path);
    return travel<ArmResponse>(this.#options, {
      side: "azure",
      call: callOf(request, path),
      what,
      signal: request.signal,
      serve: (trouble) => {
        const answer = this.#serve(request, path, trouble);
        trace.add(`${process.name} → azure ${what}: ${answer.status}${note(trouble)}`, answer.body);
        return answer;
      },
      refuse: (status) => {
        trace.add(`${process.name} → azure ${what}: ${status} (trouble)`);
        const code = CODES[status] ?? "InternalServerError";
        const headers = status === 429 && chance.isLucky(0.7) ? { "retry-after": String(1 + chance.below(30)) } : {};
        return { status, headers, body: JSON.stringify({ error: { code, message: `a trouble: ${code}` } }) };
      },
      broken: (maybeSent) => {
        trace.add(`${process.name} → azure ${what}: no answer (trouble)`);
        return new NoAnswerError("the connection broke", maybeSent);
      },
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #serve(request: ArmRequest, path: string, trouble: Trouble | undefined): ArmResponse {
    const { azure, process } = this.#options;
    const isFirst = !this.#asked.has(path);
    this.#asked.add(path);
    const { status, headers, body } = azure.ask({
      who: process.name,
      method: request.method,
      path,
      query: queryOf(request.url),
      headers: request.headers,
      body: request.body === undefined ? undefined : JSON.parse(request.body),
      fate: FATES[trouble?.kind ?? ""],
      isStale: trouble?.kind === "stale" && !isFirst,
    });
    return { status, headers, body: textOf(body) };
  }
}

const texts = new WeakMap<object, string>();

/** As JSON. The emulator shows the same object as long as nothing about a resource changes, alone and in lists. */
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

export function note(trouble: Trouble | undefined): string {
  return trouble === undefined ? "" : ` (trouble: ${trouble.kind})`;
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
