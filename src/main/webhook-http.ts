/**
 * Sends LBCF's (lb-controlling-framework) webhook calls over real connections: JSON by POST, with a timeout and a maximum size
 * of the answer.
 */
import { getCACertificates } from "node:tls";

import { Agent, request } from "undici";

import type { WebhookCall } from "../controller/lbcf/drivers/webhook-client.ts";
import type { Reply } from "../core/lbcf/drivers/webhook-answers.ts";

const LONGEST_ANSWER_BYTES = 4 << 20;
const CONNECT_TIMEOUT_MS = 5_000;

export class WebhookHttp {
  /** Keyed by the CA certificates that they trust in addition to the system's. */
  readonly #agents = new Map<string, Agent>();

  readonly send = async ({ url, body, timeoutMs, ca }: WebhookCall): Promise<Reply> => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await request(url, {
        method: "POST",
        // as LBCF, without `accept`: some servers answer 406 to one that names a type
        headers: { "content-type": "application/json" },
        body,
        dispatcher: this.#agentFor(ca),
        signal,
      });
      return { status: answer.statusCode, body: await textOf(answer.body) };
    } catch (error) {
      const why = signal.aborted ? `no answer within ${timeoutMs / 1_000} s` : messageOf(error);
      throw new Error(`${url}: ${why}`, { cause: error });
    }
  };

  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
  }

  #agentFor(ca = ""): Agent {
    const trust = ca === "" ? {} : { ca: [...getCACertificates("default"), ca] };
    const agent = this.#agents.get(ca) ?? new Agent({ connect: { ...trust, timeout: CONNECT_TIMEOUT_MS } });
    this.#agents.set(ca, agent);
    return agent;
  }
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > LONGEST_ANSWER_BYTES) throw new Error(`the answer is longer than ${LONGEST_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function messageOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return message || code || String(error);
}
