/**
 * Asks the instance metadata service of the machine: its name and its Scheduled Events, which it can approve. Nothing else; in
 * particular no tokens.
 * Speaks HTTP/1.1 over one kept connection, follows no redirect and uses no proxy. Every call ends
 * within its deadline and fails with an Error that names the URL.
 */
import { Agent, request } from "node:http";

const EVENTS_PATH = "/metadata/scheduledevents?api-version=2020-07-01";
const NAME_PATH = "/metadata/instance/compute/name?api-version=2021-02-01&format=text";
/** Far above any document of Azure. */
const MOST_BYTES = 1 << 20;

export class MetadataClient {
  readonly #url: string;
  readonly #connection = new Agent({ keepAlive: true, maxSockets: 1 });

  /** `url`: without a path `http://169.254.169.254`. */
  constructor(url: string) {
    this.#url = url.replace(/\/$/, "");
  }

  async machineName(timeoutMs: number, signal: AbortSignal): Promise<string> {
    const name = (await this.#get(NAME_PATH, timeoutMs, signal)).trim();
    if (!/^[\w.-]{1,100}$/.test(name)) throw new Error(`GET ${this.#url}${NAME_PATH}: the answer is no name`);
    return name;
  }

  /** The document as it came. */
  scheduledEvents(timeoutMs: number, signal: AbortSignal): Promise<string> {
    return this.#get(EVENTS_PATH, timeoutMs, signal);
  }

  /** Azure may carry the event out now. */
  async approve(eventId: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
    await this.#call("POST", EVENTS_PATH, timeoutMs, signal, JSON.stringify({ StartRequests: [{ EventId: eventId }] }));
  }

  close(): void {
    this.#connection.destroy();
  }

  #get(path: string, timeoutMs: number, signal: AbortSignal): Promise<string> {
    return this.#call("GET", path, timeoutMs, signal);
  }

  #call(method: "GET" | "POST", path: string, timeoutMs: number, parent: AbortSignal, body?: string): Promise<string> {
    const what = `${method} ${this.#url}${path}`;
    const signal = AbortSignal.any([parent, AbortSignal.timeout(timeoutMs)]);
    return new Promise((resolve, reject) => {
      const fail = (why: string): void => {
        call.destroy();
        reject(new Error(`${what}: ${signal.aborted && !parent.aborted ? `no answer within ${timeoutMs} ms` : why}`));
      };
      const headers = { metadata: "true", ...(body !== undefined && { "content-type": "application/json" }) };
      const call = request(this.#url + path, { method, headers, agent: this.#connection, signal }, (response) => {
        const { statusCode = 0 } = response;
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
          if (text.length > MOST_BYTES) fail("the answer is too long");
        });
        response.on("error", (error) => fail(error.message));
        response.on("close", () => fail("the answer was cut off"));
        response.on("end", () => {
          if (statusCode === 200) resolve(text);
          else fail(`${statusCode} ${text.slice(0, 200)}`);
        });
      });
      call.on("error", (error) => fail(error.message || String(error)));
      call.end(body);
    });
  }
}
