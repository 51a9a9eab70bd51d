/** One HTTP request with headers that fetch does not send as they are: Host and Origin. */
import { request } from "node:http";

export function rawRequest(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body = "",
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
