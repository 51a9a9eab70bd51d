/** Whole answers as text, and the `Status` in those that are failures. */
import type { KubeStatus } from "./kube-failure.ts";

export async function textOf(body: AsyncIterable<Uint8Array>, limitBytes = Number.POSITIVE_INFINITY): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece);
    bytes += piece.byteLength;
    if (bytes > limitBytes) break;
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** Proxies and unknown paths answer in plain text. */
export function statusOf(text: string): KubeStatus {
  try {
    const status = JSON.parse(text) as KubeStatus | null;
    if (status?.kind === "Status") return status;
  } catch {
    // not JSON: passed on as it is, below
  }
  return { message: text.slice(0, 200).trim() };
}
