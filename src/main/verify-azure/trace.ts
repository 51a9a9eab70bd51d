/**
 * A record of the calls to ARM that can be given away: what was asked, the code, state and time of each answer. GUIDs, names made from them,
 * addresses beyond the verification's own network and the group's name become numbered stand-ins, the same ones throughout, so that the calls can be
 * sent again elsewhere. Of answers no body is kept, of headers only whether or what is listed here; tokens never come by.
 */
import type { ArmRequest, ArmResponse, ArmTransport } from "../../azure/arm/transport.ts";
import type { Clock } from "../../core/util/clock.ts";

export interface TracedCall {
  readonly scenario: string;
  readonly method: ArmRequest["method"];
  /** With stand-ins. */
  readonly path: string;
  readonly apiVersion: string;
  readonly condition?: "if-match" | "if-none-match";
  /** Of a write, with stand-ins. */
  readonly body?: unknown;
  readonly status: number;
  /** Of an error. */
  readonly code?: string;
  /** Of a resource its provisioning state, of an operation its status. */
  readonly state?: string;
  readonly isAsync: boolean;
  readonly retryAfter?: string;
  readonly atMs: number;
  readonly durationMs: number;
}

interface Answered {
  readonly error?: { readonly code?: string };
  readonly status?: unknown;
  readonly properties?: { readonly provisioningState?: string };
}

export class AzureTrace {
  readonly calls: TracedCall[] = [];
  scenario = "set up";
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #scrub: (text: string) => string;

  constructor(clock: Clock, resourceGroup: string) {
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
    this.#scrub = scrubber(resourceGroup);
  }

  around(transport: ArmTransport): ArmTransport {
    return {
      send: async (request) => {
        const sentMs = this.#clock.monotonicMs();
        const answer = await transport.send(request);
        this.#record(request, answer, sentMs);
        return answer;
      },
      close: () => transport.close(),
    };
  }

  #record({ method, url, headers, body }: ArmRequest, answer: ArmResponse, sentMs: number): void {
    const { pathname, searchParams } = new URL(url);
    const { error, status, properties } = parsed(answer.body);
    const state = properties?.provisioningState ?? (typeof status === "string" ? status : undefined);
    const condition = (["if-match", "if-none-match"] as const).find((name) => headers[name] !== undefined);
    const retryAfter = answer.headers["retry-after"];
    this.calls.push({
      scenario: this.scenario,
      method,
      path: this.#scrub(decodeURIComponent(pathname)),
      apiVersion: searchParams.get("api-version") ?? "",
      ...(condition !== undefined && { condition }),
      ...(body !== undefined && { body: JSON.parse(this.#scrub(body)) as unknown }),
      status: answer.status,
      ...(error?.code !== undefined && { code: error.code }),
      ...(state !== undefined && { state }),
      isAsync: answer.headers["azure-asyncoperation"] !== undefined,
      ...(retryAfter !== undefined && { retryAfter }),
      atMs: Math.round(sentMs - this.#startMs),
      durationMs: Math.round(this.#clock.monotonicMs() - sentMs),
    });
  }
}

/** Stand-ins are valid where the real ones were. */
function scrubber(resourceGroup: string): (text: string) => string {
  const known = new Map<string, string>();
  const standIn = (kind: string, found: string, make: (number: number) => string): string => {
    const key = `${kind} ${found.toLowerCase()}`;
    const made = known.get(key) ?? make([...known.keys()].filter((one) => one.startsWith(`${kind} `)).length + 1);
    known.set(key, made);
    return made;
  };
  const group = resourceGroup.replace(/[^\w-]/g, "\\$&");
  return (text) =>
    text
      .replace(new RegExp(`(?<=/resourcegroups/)${group}(?=[/"]|$)`, "gi"), "verify")
      .replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/gi, (found) =>
        standIn("guid", found, (number) => `00000000-0000-0000-0000-${String(number).padStart(12, "0")}`),
      )
      .replace(/\ba[\da-f]{31}/g, (found) => standIn("name", found, (number) => `a${String(number).padStart(31, "0")}`))
      .replace(/(?<![\d.])(?!10\.250\.|0\.0\.0\.0)\d{1,3}(\.\d{1,3}){3}(?![\d.])/g, (found) =>
        standIn("address", found, (number) => `203.0.113.${number}`),
      );
}

function parsed(text: string): Answered {
  try {
    return (JSON.parse(text) as Answered | null) ?? {};
  } catch {
    return {};
  }
}
