/** The model for tests, with a manual clock, sequential GUIDs and short verbs. */
import {
  emptyState,
  step,
  type ArmResponse,
  type Draws,
  type OperationFate,
  type OptionOverrides,
  type State,
} from "./index.ts";
import type { ArmRequest, Probed } from "./contract.ts";

export const SUBSCRIPTION = "00000000-0000-0000-0000-000000000001";
export const GROUP = `/subscriptions/${SUBSCRIPTION}/resourceGroups/rg`;
export const NETWORK = `${GROUP}/providers/Microsoft.Network`;
export const COMPUTE = `${GROUP}/providers/Microsoft.Compute`;
export const API_VERSION = "2025-05-01";

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers freely
export type Wire = any;

export type Answer = ArmResponse & { readonly body: Wire };

export class TestAzure {
  state: State;
  nowMs = 1_000_000;
  tailMs = 0;
  retryAfterSeconds: number | undefined;
  fate: OperationFate | undefined;
  probed: Probed | undefined;
  #guids = 0;

  constructor(options: OptionOverrides = {}) {
    this.state = emptyState(options);
  }

  get draws(): Draws {
    return {
      guid: () => `00000000-0000-4000-8000-${String(++this.#guids).padStart(12, "0")}`,
      tailMs: () => this.tailMs,
      retryAfterSeconds: () => this.retryAfterSeconds,
      ...(this.fate && { fate: this.fate }),
      ...(this.probed && { probed: this.probed }),
    };
  }

  send(method: ArmRequest["method"], path: string, body?: unknown, more: Partial<ArmRequest> = {}): Answer {
    const request: ArmRequest = {
      method,
      path,
      query: { "api-version": API_VERSION },
      headers: {},
      body: body === undefined ? undefined : structuredClone(body),
      nowMs: this.nowMs,
      baseUrl: "https://arm.test",
      ...more,
    };
    return step(this.state, request, this.draws).response as Answer;
  }

  get(path: string, query: Record<string, string> = {}): Answer {
    return this.send("GET", path, undefined, { query: { "api-version": API_VERSION, ...query } });
  }

  put(path: string, body: unknown, headers: Record<string, string> = {}): Answer {
    return this.send("PUT", path, body, { headers });
  }

  delete(path: string): Answer {
    return this.send("DELETE", path);
  }

  /** GETs a URL from an answer. */
  follow(url: string): Answer {
    const parsed = new URL(url);
    return this.send("GET", decodeURIComponent(parsed.pathname), undefined, {
      query: Object.fromEntries(parsed.searchParams),
    });
  }
}

/** The model with the group `rg` in `eastus`. */
export function azureWithGroup(options: OptionOverrides = {}): TestAzure {
  const azure = new TestAzure(options);
  azure.put(GROUP, { location: "eastus" });
  return azure;
}
