/**
 * Sends LBCF's (lb-controlling-framework) webhook calls over real connections: JSON by POST, with a timeout, to hosts that
 * are allowed. Users choose the servers, so memory is bounded: each answer, all answers together, and the connections
 * that are kept for other certificate authorities.
 */
import { lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { getCACertificates } from "node:tls";

import { Agent, request } from "undici";

import type { WebhookCall } from "../controller/lbcf/drivers/webhook-client.ts";
import type { Reply } from "../core/lbcf/drivers/webhook-answers.ts";
import { hostRefusal, type WebhookHosts } from "../core/lbcf/drivers/webhook-hosts.ts";

const CONNECT_TIMEOUT_MS = 5_000;

export interface WebhookHttpOptions {
  /** `undefined`: everywhere, except for what `webhook-hosts.ts` never allows by itself. */
  readonly hosts?: WebhookHosts | undefined;
  readonly longestAnswerBytes?: number;
  /** Of the answers that are being received, together. Above it the longest of them is given up. */
  readonly mostBytes?: number;
  /** Of certificate authorities. The one that was not used for the longest time is closed. */
  readonly mostAgents?: number;
}

const DEFAULTS = { longestAnswerBytes: 4 << 20, mostBytes: 32 << 20, mostAgents: 32 };

/** An answer that is being received. */
interface Receiving {
  bytes: number;
  readonly giveUp: AbortController;
}

export class WebhookHttp {
  readonly #options: WebhookHttpOptions & typeof DEFAULTS;
  /** Keyed by the CA certificates that they trust in addition to the system's; the last used comes last. */
  readonly #agents = new Map<string, Agent>();
  readonly #receiving = new Set<Receiving>();

  constructor(options: WebhookHttpOptions = {}) {
    this.#options = { ...DEFAULTS, ...options };
  }

  readonly send = async ({ url, body, timeoutMs, ca }: WebhookCall): Promise<Reply> => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const receiving: Receiving = { bytes: 0, giveUp: new AbortController() };
    this.#receiving.add(receiving);
    try {
      this.#checkAddress(url);
      const answer = await request(url, {
        method: "POST",
        // as LBCF, without `accept`: some servers answer 406 to one that names a type
        headers: { "content-type": "application/json" },
        body,
        dispatcher: this.#agentFor(ca),
        signal: AbortSignal.any([timeout, receiving.giveUp.signal]),
      });
      return { status: answer.statusCode, body: await this.#textOf(answer.body, receiving) };
    } catch (error) {
      const { signal } = receiving.giveUp;
      const why = timeout.aborted ? `no answer within ${timeoutMs / 1_000} s` : messageOf(signal.reason ?? error);
      throw new Error(`${url}: ${why}`, { cause: error });
    } finally {
      this.#receiving.delete(receiving);
    }
  };

  /** How many are open, for tests. */
  get agents(): number {
    return this.#agents.size;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
  }

  /** Names are checked when they are resolved; an address is not resolved. */
  #checkAddress(url: string): void {
    const host = new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
    const refusal = isIP(host) === 0 ? undefined : hostRefusal(this.#options.hosts, host, host);
    if (refusal !== undefined) throw new Error(refusal);
  }

  #agentFor(ca = ""): Agent {
    const agent = this.#agents.get(ca) ?? this.#openAgent(ca);
    this.#agents.delete(ca);
    this.#agents.set(ca, agent);
    for (const [key, oldest] of this.#agents) {
      if (this.#agents.size <= this.#options.mostAgents) break;
      this.#agents.delete(key);
      void oldest.close(); // once its calls have ended
    }
    return agent;
  }

  #openAgent(ca: string): Agent {
    const trust = ca === "" ? {} : { ca: [...getCACertificates("default"), ca] };
    return new Agent({ connect: { ...trust, timeout: CONNECT_TIMEOUT_MS, lookup: this.#lookup } });
  }

  /** Resolves a name to the addresses that are allowed; the connection is made to one of them. */
  readonly #lookup: LookupFunction = (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return done(error, "");
      const refusals = found.map(({ address }) => hostRefusal(this.#options.hosts, host, address));
      const allowed = found.filter((_, at) => refusals[at] === undefined);
      const [first] = allowed;
      if (first === undefined) return done(new Error(refusals[0] ?? `${host} has no address`), "");
      return options.all === true ? done(null, allowed) : done(null, first.address, first.family);
    });
  };

  async #textOf(body: AsyncIterable<Uint8Array>, receiving: Receiving): Promise<string> {
    const { longestAnswerBytes } = this.#options;
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) {
      receiving.bytes += chunk.length;
      if (receiving.bytes > longestAnswerBytes)
        throw new Error(`the answer is longer than ${longestAnswerBytes} bytes`);
      chunks.push(chunk);
      this.#giveUpLongest();
    }
    receiving.giveUp.signal.throwIfAborted();
    return Buffer.concat(chunks).toString("utf8");
  }

  /** Short answers of other drivers are received whatever one driver sends. */
  #giveUpLongest(): void {
    const { mostBytes } = this.#options;
    const all = [...this.#receiving].filter(({ giveUp }) => !giveUp.signal.aborted);
    if (all.reduce((sum, { bytes }) => sum + bytes, 0) <= mostBytes) return;
    const longest = all.reduce((one, other) => (other.bytes > one.bytes ? other : one));
    longest.giveUp.abort(
      new Error(`the answers of all drivers are longer than ${mostBytes} bytes; this is the longest`),
    );
  }
}

function messageOf(error: unknown): string {
  const { message, code, cause } = error as { message?: string; code?: string; cause?: unknown };
  return message || code || (cause === undefined ? String(error) : messageOf(cause));
}
