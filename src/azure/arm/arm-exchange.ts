/**
 * One request to ARM and its answer: its turn in the budget, the token, the headers, the classified failure, a report for
 * metrics and a span of its time on the wire. Repeats only what cannot have had an effect: a refused token, a refused api-version.
 */
import type { Clock, Random } from "../../core/util/clock.ts";
import type { Span, Tracer } from "../../core/util/tracer.ts";
import { ApiVersions, typeOf } from "./api-versions.ts";
import { Budget } from "../budget/budget.ts";
import { AZURE_LIMITS, type BudgetLimits, type CallKind, type Priority } from "../budget/limits.ts";
import type { Cloud } from "./clouds.ts";
import { ArmError, failureOfResponse, transient, type ArmFailure } from "./failures.ts";
import type { TokenSource } from "./token-source.ts";
import { NoAnswerError, type ArmRequest, type ArmResponse, type ArmTransport } from "./transport.ts";

/** `query`: a POST that changes nothing. */
export type Verb = "get" | "list" | "put" | "delete" | "post" | "query" | "poll";

/** One call as it went, for metrics. */
export interface CallReport {
  readonly verb: Verb;
  /** `Microsoft.Network/loadBalancers`. */
  readonly type: string;
  readonly id: string;
  readonly priority: Priority;
  /** Absent when no answer came. */
  readonly status: number | undefined;
  readonly failure: ArmFailure | undefined;
  /** As in `Ask`. */
  readonly batchSize: number | undefined;
  /** Azure's name for the call, which its support asks for. */
  readonly requestId: string | undefined;
  /** In the queue of the budget. */
  readonly waitedMs: number;
  /** On the wire. */
  readonly durationMs: number;
}

export interface ExchangeOptions {
  readonly cloud: Cloud;
  readonly transport: ArmTransport;
  readonly tokens: TokenSource;
  /** The identity in the other tenant, where the network resources' subscription belongs to one. */
  readonly network?: { readonly subscriptionId: string; readonly tokens: TokenSource };
  readonly clock: Clock;
  readonly random: Random;
  readonly userAgent: string;
  readonly limits?: BudgetLimits;
  readonly onCall?: (call: CallReport) => void;
  /** Absent: no spans. */
  readonly tracer?: Tracer | undefined;
}

export interface Ask {
  readonly verb: Verb;
  readonly method: ArmRequest["method"];
  /** A path such as a resource id, with or without a query; the api-version is added. Or a whole address as Azure gave it. */
  readonly path: string;
  readonly priority: Priority;
  readonly namespace?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Of a write: the fragments in it, for reports. */
  readonly batchSize?: number | undefined;
  /** On whose behalf it is. */
  readonly spans?: readonly Span[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Ends the wait for its turn, but not the call once it has left. */
  readonly queueSignal?: AbortSignal | undefined;
  /** Azure has told to wait: called with the time that is left. */
  readonly onHeld?: ((waitMs: number) => void) | undefined;
  /** Called right before it leaves, after all waiting; throws to hold it back. */
  readonly guard?: (() => void | Promise<void>) | undefined;
}

/** Codes by which a cloud says that it lacks an api-version. */
const VERSION_REFUSALS = ["NoRegisteredProviderFound", "InvalidResourceType", "InvalidApiVersionParameter"];

export class ArmExchange {
  readonly #options: ExchangeOptions;
  readonly #versions: ApiVersions;
  readonly #budgets = new Map<string, Budget>();
  readonly #homeHost: string;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#versions = new ApiVersions(options.cloud.profile);
    this.#homeHost = new URL(options.cloud.resourceManager).host;
  }

  /** Answers below 400 only; everything else throws `ArmError`. */
  async send(ask: Ask): Promise<ArmResponse> {
    const type = typeOf(ask.path);
    for (let tokenWasRefused = false; ;) {
      const version = this.#versions.of(type);
      const { response, refuseToken } = await this.#once(ask, type, version);
      if (response.status < 400) return response;
      const failure = failureOfResponse(response, this.#options.clock.nowMs());
      if (VERSION_REFUSALS.includes(failure.code) && !isAddress(ask.path) && this.#versions.refused(type, version))
        continue;
      if (failure.kind !== "unauthenticated" || tokenWasRefused) throw new ArmError(failure, doingOf(ask));
      refuseToken();
      tokenWasRefused = true;
    }
  }

  budgetOf(path: string): Budget {
    const key = this.#subscriptionOf(path);
    const budget = this.#budgets.get(key) ?? new Budget(this.#options.clock, this.#options.limits ?? AZURE_LIMITS);
    this.#budgets.set(key, budget);
    return budget;
  }

  async #once(ask: Ask, type: string, version: string): Promise<{ response: ArmResponse; refuseToken: () => void }> {
    const { clock, transport } = this.#options;
    const url = this.#urlOf(ask.path, version);
    const id = pathOf(url);
    const kind = kindOf(ask.method);
    const askedMs = clock.monotonicMs();
    const budget = this.budgetOf(ask.path);
    const { namespace, onHeld } = ask;
    const signal = ask.queueSignal ?? ask.signal;
    const entry = await budget.enter(kind, ask.priority, { signal, isAhead: isShared(type), namespace, type, onHeld });
    const sentMs = clock.monotonicMs();
    const done = (response: ArmResponse | undefined, failure: ArmFailure | undefined): void => {
      if (failure?.kind === "throttled")
        budget.throttled(kind, entry, failure.retryAfterMs, throttledType(failure, type));
      else budget.answered(kind, entry, response && remainingOf(response, kind));
      const timing = { waitedMs: sentMs - askedMs, durationMs: clock.monotonicMs() - sentMs };
      const { verb, priority, batchSize } = ask;
      const answer = { status: response?.status, requestId: response?.headers["x-ms-request-id"], failure };
      const report = { verb, type, id, priority, batchSize, ...answer, ...timing };
      if (span !== undefined) endSpan(span, report);
      this.#options.onCall?.(report);
    };
    let span: Span | undefined;
    try {
      const { source, token, headers } = await this.#authorization(ask.path);
      const request = this.#requestOf(ask, url, headers); // before the guard: serializing a megabyte takes time
      await ask.guard?.();
      span = this.#options.tracer?.start(`${ask.method} ${type}`, { on: ask.spans, isRequest: true });
      const response = await transport.send(request);
      done(response, response.status < 400 ? undefined : failureOfResponse(response, clock.nowMs()));
      return { response, refuseToken: () => source.refused(token) };
    } catch (error) {
      const known = armErrorOf(error, ask);
      done(undefined, known?.failure);
      throw known ?? error;
    }
  }

  /** A call in one tenant may name resources of the other, for which Azure asks to see that tenant's token as well. */
  async #authorization(path: string): Promise<{ source: TokenSource; token: string; headers: Record<string, string> }> {
    const { tokens, network } = this.#options;
    const isNetwork = network?.subscriptionId.toLowerCase() === this.#subscriptionOf(path);
    const [source, other] = network !== undefined && isNetwork ? [network.tokens, tokens] : [tokens, network?.tokens];
    const token = await source.token();
    const headers = { authorization: `Bearer ${token}` };
    if (other === undefined) return { source, token, headers };
    const auxiliary = { "x-ms-authorization-auxiliary": `Bearer ${await other.token()}` };
    return { source, token, headers: { ...headers, ...auxiliary } };
  }

  /** In lower case; empty where the path has none. */
  #subscriptionOf(path: string): string {
    return /^\/subscriptions\/([^/]+)/i.exec(pathOf(path))?.[1]?.toLowerCase() ?? "";
  }

  #requestOf(ask: Ask, url: string, authorization: Record<string, string>): ArmRequest {
    const body = ask.body === undefined ? undefined : JSON.stringify(ask.body);
    const headers = {
      accept: "application/json",
      ...authorization,
      "user-agent": this.#options.userAgent,
      // fresh for each request: Azure may take a repeated one for a replay
      "x-ms-client-request-id": uuidOf(this.#options.random),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...ask.headers,
    };
    return { method: ask.method, url, headers, body, signal: ask.signal };
  }

  /** Addresses that Azure gave (polls, next pages) are used as they are, but the token is sent to no other host. */
  #urlOf(path: string, version: string): string {
    const home = this.#options.cloud.resourceManager;
    if (!isAddress(path)) return `${home}${path}${path.includes("?") ? "&" : "?"}api-version=${version}`;
    const { host } = new URL(path);
    if (host === this.#homeHost || host.endsWith(`.${this.#homeHost}`)) return path;
    const why = `Azure pointed to ${host}, which is not ${this.#homeHost}`;
    throw new ArmError(transient(why, true), "following an address");
  }
}

/** Named as OpenTelemetry's conventions name them; ours begin with `azlb.`. */
function endSpan(
  span: Span,
  { verb, id, priority, batchSize, status, requestId, failure, waitedMs }: CallReport,
): void {
  span.set({
    "http.request.method": METHODS[verb],
    "http.response.status_code": status,
    "error.type": failure?.kind,
    "azure.service.request.id": requestId,
    "azlb.verb": verb,
    "azlb.resource.id": id,
    "azlb.priority": priority,
    "azlb.fragments": batchSize,
    "azlb.budget.wait_ms": Math.round(waitedMs),
  });
  span.end(failure && `${failure.code}: ${failure.message}`);
}

const METHODS: Readonly<Record<Verb, ArmRequest["method"]>> = {
  get: "GET",
  list: "GET",
  poll: "GET",
  put: "PUT",
  delete: "DELETE",
  post: "POST",
  query: "POST",
};

function armErrorOf(error: unknown, ask: Ask): ArmError | undefined {
  if (error instanceof ArmError) return error;
  if (!(error instanceof NoAnswerError)) return undefined;
  return new ArmError(transient(error.message, error.maybeSent), doingOf(ask), { cause: error });
}

/** Many Services wait for one write of these, and have got their public IPs already. */
function isShared(type: string): boolean {
  return /\/(loadBalancers|networkSecurityGroups)\b/i.test(type);
}

/** Which calls a 429 is about: ARM's own limits hold for a whole subscription, a provider's for its resource type. */
function throttledType({ code }: ArmFailure, type: string): string | undefined {
  return code === "SubscriptionRequestsThrottled" ? undefined : type;
}

function isAddress(path: string): boolean {
  return /^https?:/i.test(path);
}

function doingOf({ verb, path }: Ask): string {
  return `${verb} ${pathOf(path)}`;
}

/** Without host and query. Every call asks for it several times, and a whole `URL` costs more than all else of a call. */
function pathOf(address: string): string {
  return /^(?:https?:\/\/[^/?]*)?([^?]*)/i.exec(address)?.[1] ?? "";
}

function kindOf(method: ArmRequest["method"]): CallKind {
  if (method === "DELETE") return "deletes";
  return method === "GET" || method === "HEAD" ? "reads" : "writes";
}

/** The tighter of what the headers grant this principal and the whole subscription. */
function remainingOf({ headers }: ArmResponse, kind: CallKind): number | undefined {
  const granted = ["", "global-"]
    .map((scope) => headers[`x-ms-ratelimit-remaining-subscription-${scope}${kind}`])
    .filter((value) => value !== undefined && /^\d+$/.test(value))
    .map(Number);
  return granted.length === 0 ? undefined : Math.min(...granted);
}

/** A version 4 UUID of handed-in chance. */
function uuidOf(random: Random): string {
  const digit = (count: number): string => {
    let digits = "";
    while (digits.length < count) digits += "0123456789abcdef"[Math.floor(random() * 16)];
    return digits;
  };
  return `${digit(8)}-${digit(4)}-4${digit(3)}-8${digit(3)}-${digit(12)}`;
}
