/**
 * Reads and writes of ARM resources as raw JSON, unknown fields included; a PUT leaves out what Azure alone writes
 * (`request-body.ts`). Writes are followed to their end. Reads are repeated after failures that pass; writes never are,
 * because only the lane that merged them knows whether they may be sent again (`lane.ts`). All failures are `ArmError`.
 */
import { requestBodyOf } from "../../core/resources/kinds.ts";
import type { Span } from "../../core/util/tracer.ts";
import { MOST, readAgainMs, RETRY } from "../../core/retry.ts";
import { typeOf } from "./api-versions.ts";
import { ArmExchange, type Ask, type ExchangeOptions, type Verb } from "./arm-exchange.ts";
import type { Budget } from "../budget/budget.ts";
import type { Priority } from "../budget/limits.ts";
import { field, jsonOf, shapeProblem, textField } from "./response-body.ts";
import { ArmError, transient } from "./failures.ts";
import { followOperation, PollPace } from "./long-running.ts";
import type { ArmResponse } from "./transport.ts";

export interface ArmClientOptions extends ExchangeOptions {
  /** An operation that runs longer is given up as unknown. */
  readonly operationWithinMs?: number;
}

export interface CallOptions {
  readonly priority: Priority;
  /** Of the objects that the call is for: namespaces take turns in the budget. Absent: of several, or of none. */
  readonly namespace?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Azure has told to wait: called with the time that is left, of a write as of the reads that follow it to its end. */
  readonly onHeld?: ((waitMs: number) => void) | undefined;
  /** On whose behalf it is. */
  readonly spans?: readonly Span[] | undefined;
}

export interface WriteOptions extends CallOptions {
  /** The ETag that must still hold; `"absent"`: only where nothing is there. */
  readonly ifMatch?: string | undefined;
  /** Ends the wait for its turn, but not the write once it has left. */
  readonly queueSignal?: AbortSignal;
  /** Called right before the write leaves, after all waiting; throws to hold it back. */
  readonly guard?: () => void | Promise<void>;
  /** The fragments in it, for reports. */
  readonly batchSize?: number | undefined;
}

export interface PutOptions extends WriteOptions {
  /** What to read when the write is over: the resource itself, or the one that it is a part of. */
  readonly thenRead?: string;
  /** Calls the given read once the write is over, at once or after something else. */
  readonly reading?: <Body>(read: () => Promise<Body>) => Promise<Body>;
}

const OPERATION_WITHIN_MS = 900_000;
const MOST_PAGES = 1_000;

export class ArmClient {
  readonly #options: ArmClientOptions;
  readonly #exchange: ArmExchange;
  readonly #pace = new PollPace();

  constructor(options: ArmClientOptions) {
    this.#options = options;
    this.#exchange = new ArmExchange(options);
  }

  /** Throws where it isn't there. */
  async get<Body>(id: string, options: CallOptions): Promise<Body> {
    return bodyOf(await this.#read({ verb: "get", method: "GET", path: id, ...options })) as Body;
  }

  /** `null` where it, or what it is a part of, isn't there. A missing group or subscription still throws. */
  async find<Body>(id: string, options: CallOptions): Promise<Body | null> {
    try {
      return await this.get<Body>(id, options);
    } catch (error) {
      if (error instanceof ArmError && isAbsent(error)) return null;
      throw error;
    }
  }

  /** All pages; throws rather than showing a part. */
  async list<Body>(path: string, options: CallOptions): Promise<Body[]> {
    const found: Body[] = [];
    let next: string | undefined = path;
    for (let pages = 0; next !== undefined; pages++) {
      if (pages === MOST_PAGES) throw new ArmError(transient(`more than ${MOST_PAGES} pages`, false), `list ${path}`);
      const page = bodyOf(await this.#read({ verb: "list", method: "GET", path: next, ...options }));
      const value = field(page, "value");
      if (!Array.isArray(value)) throw new ArmError(transient("the answer is no list", false), `list ${path}`);
      found.push(...(value as Body[]));
      next = textField(page, "nextLink") || undefined;
    }
    return found;
  }

  /** The resource as it is once the write is over, with the ETag that then holds. */
  async put<Body>(id: string, body: unknown, { thenRead, reading, ...options }: PutOptions): Promise<Body> {
    const { first, last } = await this.#put(id, body, options);
    const isWhole = last === first && thenRead === undefined;
    if (isWhole) return bodyOf(first) as Body;
    const { priority, namespace, signal, onHeld, spans } = options;
    const read = (): Promise<Body> => this.get<Body>(thenRead ?? id, { priority, namespace, signal, onHeld, spans });
    try {
      return await (reading?.(read) ?? read());
    } catch (error) {
      throw error instanceof ArmError ? unread(id, error) : error;
    }
  }

  /** Returns once the write is over, whatever the resource is like then. */
  async putUnread(id: string, body: unknown, options: WriteOptions): Promise<void> {
    await this.#put(id, body, options);
  }

  /** Returns once it is gone; what was not there is gone too. */
  async delete(id: string, options: WriteOptions): Promise<void> {
    try {
      const first = await this.#write({ verb: "delete", method: "DELETE", path: id }, options);
      await this.#follow("delete", id, first, options);
    } catch (error) {
      if (!(error instanceof ArmError) || error.failure.kind !== "notFound") throw error;
      if (error.failure.missing === "subscription") throw error;
    }
  }

  /** An action; its result once it is over. */
  post<Body>(path: string, body: unknown, options: WriteOptions): Promise<Body | undefined> {
    return this.#act("post", path, body, options);
  }

  /** A question that Azure takes as an action, such as the health of a rule's members: it changes nothing. */
  query<Body>(path: string, options: CallOptions): Promise<Body | undefined> {
    return this.#act("query", path, undefined, options);
  }

  async #act<Body>(
    verb: "post" | "query",
    path: string,
    body: unknown,
    options: WriteOptions,
  ): Promise<Body | undefined> {
    const first = await this.#write({ verb, method: "POST", path, body }, options);
    const last = await this.#follow(verb, path, first, options);
    const result = last === first ? undefined : first.headers["location"];
    if (result === undefined) return jsonOf(first) as Body | undefined;
    return bodyOf(await this.#read({ verb: "get", method: "GET", path: result, ...options })) as Body;
  }

  /** The throttle budget that calls to this path draw on. */
  budgetOf(path: string): Budget {
    return this.#exchange.budgetOf(path);
  }

  async #put(id: string, body: unknown, options: WriteOptions): Promise<{ first: ArmResponse; last: ArmResponse }> {
    const what = { verb: "put", method: "PUT", path: id, body: requestBodyOf(id, body) } as const;
    const first = await this.#write(what, options);
    return { first, last: await this.#follow("put", id, first, options) };
  }

  #write(what: Pick<Ask, "verb" | "method" | "path" | "body">, options: WriteOptions): Promise<ArmResponse> {
    const { ifMatch, ...rest } = options;
    return this.#exchange.send({ ...what, ...rest, headers: conditionOf(ifMatch) });
  }

  #follow(verb: Verb, id: string, first: ArmResponse, options: CallOptions): Promise<ArmResponse> {
    const { priority, namespace, signal, onHeld, spans } = options;
    return followOperation(
      { id, first, type: `${verb} ${typeOf(id)}`, ask: { priority, namespace, signal, onHeld, spans } },
      {
        send: (poll) => this.#exchange.send(poll),
        clock: this.#options.clock,
        pace: this.#pace,
        plenty: () => this.budgetOf(id).plenty("reads"),
        withinMs: this.#options.operationWithinMs ?? OPERATION_WITHIN_MS,
      },
    );
  }

  async #read(ask: Ask): Promise<ArmResponse> {
    const { clock, random } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        return await this.#exchange.send(ask);
      } catch (error) {
        if (!(error instanceof ArmError) || tries >= MOST.reads || ask.signal?.aborted) throw error;
        const rule = RETRY[error.failure.kind].read;
        if (rule === "fail") throw error;
        if (rule === "again") await clock.sleep(readAgainMs(tries) * (1 + random()), ask.signal);
      }
    }
  }
}

/** However the read after a write fails, the write had its effect: it was not refused. */
function unread(id: string, cause: ArmError): ArmError {
  const { code, message } = cause.failure;
  return new ArmError(transient(`written, but it cannot be read: ${message}`, true, code), `writing ${id}`, { cause });
}

function conditionOf(ifMatch: string | undefined): Record<string, string> {
  if (ifMatch === undefined) return {};
  return ifMatch === "absent" ? { "if-none-match": "*" } : { "if-match": ifMatch };
}

function isAbsent({ failure }: ArmError): boolean {
  return failure.kind === "notFound" && (failure.missing === "resource" || failure.missing === "parent");
}

function bodyOf(response: ArmResponse): unknown {
  const body = jsonOf(response);
  if (body === undefined) throw new ArmError(transient("the answer is no JSON", true), `HTTP ${response.status}`);
  return body;
}

/**
 * The resource; throws where it cannot be one. A garbled answer (of a proxy, or cut short) must not pass for a resource
 * that has nothing on it: a merge into that would write everything else away.
 */
export function assertResourceShape<Body>(body: Body, doing: string): Body {
  const garble = shapeProblem(body);
  if (garble === undefined) return body;
  throw new ArmError(transient(`the answer makes no sense: ${garble}`, true), doing);
}
