/**
 * Just enough of an API server to be elected by: one Lease with optimistic locking, and a link per client that can
 * be cut (requests fail), frozen (they never come back) or lose answers (requests are carried out, and seem to fail).
 * Other writes are only counted.
 */
import type { Transport, WireRequest, WireResponse } from "../../src/kube/client/transport.ts";

interface StoredLease {
  metadata: Record<string, unknown>;
  spec: Record<string, unknown>;
}

export class LeaseServer {
  lease: StoredLease | undefined;
  /** Of anything but the lease. */
  writes = 0;
  #version = 0;
  readonly #links = new Map<string, "cut" | "frozen" | "lossy">();

  /** As the last leader of a cluster leaves it; a new one has no lease. */
  static released(): LeaseServer {
    const server = new LeaseServer();
    server.#store({ metadata: {}, spec: { holderIdentity: "", leaseDurationSeconds: 1 } });
    return server;
  }

  cut(client: string): void {
    this.#links.set(client, "cut");
  }

  freeze(client: string): void {
    this.#links.set(client, "frozen");
  }

  lose(client: string): void {
    this.#links.set(client, "lossy");
  }

  mend(client: string): void {
    this.#links.delete(client);
  }

  /** Another client takes the lease, against all rules. */
  steal(holderIdentity: string): void {
    this.#store({ metadata: {}, spec: { ...this.lease?.spec, holderIdentity } });
  }

  touch(): void {
    this.#store({ metadata: { annotations: { touched: "yes" } }, spec: this.lease?.spec ?? {} });
  }

  remove(): void {
    this.lease = undefined;
  }

  linkOf(client: string): Transport {
    return { send: (request) => this.#send(client, request), close: () => Promise.resolve() };
  }

  async #send(client: string, request: WireRequest): Promise<WireResponse> {
    await Promise.resolve();
    const link = this.#links.get(client);
    if (link === "cut") throw new Error("ECONNRESET");
    if (link === "frozen") {
      return new Promise((_, reject) => {
        const leave = (): void => reject(request.signal.reason);
        if (request.signal.aborted) leave();
        request.signal.addEventListener("abort", leave);
      });
    }
    const [status, value] = this.#answer(request);
    if (link === "lossy") throw new Error("ECONNRESET");
    return { status, headers: {}, body: bodyOf(JSON.stringify(value)) };
  }

  #answer({ method, path, body }: WireRequest): [status: number, value: unknown] {
    if (!path.includes("/leases")) {
      this.writes += 1;
      return [201, JSON.parse(body ?? "{}")];
    }
    if (method === "GET") return this.lease === undefined ? [404, failure("NotFound")] : [200, this.lease];
    const sent = JSON.parse(body ?? "{}") as StoredLease;
    if (method === "POST") return this.lease === undefined ? [201, this.#store(sent)] : [409, failure("AlreadyExists")];
    if (this.lease === undefined) return [404, failure("NotFound")];
    const stale = sent.metadata["resourceVersion"] !== this.lease.metadata["resourceVersion"];
    return stale ? [409, failure("Conflict")] : [200, this.#store(sent)];
  }

  #store({ metadata, spec }: StoredLease): StoredLease {
    this.#version += 1;
    this.lease = { metadata: { ...metadata, resourceVersion: String(this.#version) }, spec };
    return this.lease;
  }
}

function failure(reason: string): object {
  return { kind: "Status", reason };
}

async function* bodyOf(text: string): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  yield Buffer.from(text);
}
