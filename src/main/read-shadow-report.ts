/** Reads the report of a running shadow. */
import type { ShadowReport } from "../core/shadow/shadow-report.ts";
import { errorText } from "../core/util/text.ts";
import { REPORT_PATH } from "./report-server.ts";

/** The shadow does not answer; the message says where it was looked for and how to reach it. */
class NoShadow extends Error {
  override readonly name = "NoShadow";
}

export async function readShadowReport(url: string, timeoutMs: number): Promise<ShadowReport> {
  const address = `${url.replace(/\/+$/, "")}${REPORT_PATH}`;
  const how = "start it with azlb controller --shadow; in a cluster, kubectl port-forward its pod's port 10359 first";
  try {
    const response = await fetch(address, { ...(timeoutMs > 0 && { signal: AbortSignal.timeout(timeoutMs) }) });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return (await response.json()) as ShadowReport;
  } catch (error) {
    throw new NoShadow(`no shadow answers at ${address} (${causeText(error)}): ${how}`);
  }
}

function causeText(error: unknown): string {
  return errorText(error instanceof Error && error.cause !== undefined ? error.cause : error);
}
