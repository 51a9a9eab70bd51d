/**
 * Sends the calls of a trace of `azlb verify-azure` to an emulator of its own, and lists where code or state differs. Polls are left out,
 * and states on the way: how long Azure takes is no matter of right and wrong.
 */
import { startAzure } from "../../../../sandbox/azure/index.ts";
import type { TracedCall } from "../../../../src/main/verify-azure/trace.ts";
import { armHttp, errorCode } from "../arm-http.ts";
import { trust } from "../azure-under-test.ts";

const SUBSCRIPTION = "00000000-0000-0000-0000-000000000001";
const POLL = /\/operation(s|results)\//i;
const ON_THE_WAY = new Set(["Updating", "Deleting", "InProgress"]);

export async function replayTrace(calls: readonly TracedCall[]): Promise<{ replayed: number; unlike: string[] }> {
  const account = { subscriptionId: SUBSCRIPTION, resourceGroup: "unused" };
  const azure = await startAzure({ account, topology: { nodes: 0 } });
  trust(azure.caPem);
  const unlike: string[] = [];
  const sent = calls.filter(({ path }) => !POLL.test(path));
  try {
    const arm = await armHttp(azure);
    const group = `/subscriptions/${SUBSCRIPTION}/resourceGroups/verify?api-version=2021-04-01`;
    await arm.send("PUT", group, { body: { location: "westus2" } });
    for (const { method, path, apiVersion, condition, body, status, code, state } of sent) {
      const target = `${path}?api-version=${apiVersion}`;
      const headers: Record<string, string> = {};
      if (condition === "if-none-match") headers[condition] = "*";
      if (condition === "if-match") headers[condition] = (await arm.send("GET", target)).headers["etag"] ?? "";
      const answer = await arm.send(method, target, { headers, ...(body === undefined ? {} : { body }) });
      const properties = (answer.body as { properties?: { provisioningState?: string } } | undefined)?.properties;
      const compare = (what: string, recorded: unknown, ours: unknown): void => {
        if (recorded !== ours) unlike.push(`${method} ${path}: ${what} ${String(recorded)}, ours ${String(ours)}`);
      };
      compare("status", status, answer.status);
      compare("code", code, errorCode(answer));
      if (state !== undefined && !ON_THE_WAY.has(state) && !ON_THE_WAY.has(properties?.provisioningState ?? "")) {
        compare("state", state, properties?.provisioningState);
      }
    }
  } finally {
    await azure.close();
  }
  return { replayed: sent.length, unlike };
}
