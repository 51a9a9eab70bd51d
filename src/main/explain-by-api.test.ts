/** Which Services `azlb explain` asks the API for, and what it hands to programs. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { type ApiAccess, ApiRefusal } from "./api-access.ts";
import { explainByApi } from "./explain-by-api.ts";

const REFUSED = { namespace: "team", name: "web", state: "refused", attention: "needsYou", message: "no" };

/** `mayAll`: whether the caller may see the whole cluster. */
function apiFor(mayAll: boolean): ApiAccess {
  return {
    where: "here",
    get: async <View>(path: string): Promise<View> => {
      const isOwn = path.includes("namespace=team");
      if (!isOwn && !mayAll) throw new ApiRefusal(403, "needs list services in all namespaces");
      const items = path.includes("attention=needsYou") ? [REFUSED] : [];
      const total = path.includes("attention=") ? items.length : isOwn ? 2 : 5;
      return (path.startsWith("/api/v1/overview") ? {} : { items, total }) as View;
    },
  };
}

async function explainAll(mayAll: boolean, extent: "all" | "namespace" | "visible"): Promise<string> {
  const { text, data, isFailing } = await explainByApi(apiFor(mayAll), { kind: "all", namespace: "team", extent }, 0);
  assert.equal(isFailing, true);
  const { items, held, toldBy } = data as Record<string, unknown>;
  assert.deepEqual({ items, held, toldBy }, { items: [REFUSED], held: [], toldBy: "the controller (here)" });
  return text.split("\n").at(-3) ?? "";
}

test("-n: of this namespace alone, also for those who may see all", async () => {
  assert.equal(await explainAll(true, "namespace"), "1 Service is as it asks in namespace team");
});

test("-A: of all, and who may not see them is told so", async () => {
  assert.equal(await explainAll(true, "all"), "4 Services are as they ask");
  await assert.rejects(explainAll(false, "all"), /needs list services in all namespaces/);
});

test("without either: what the caller may see", async () => {
  assert.equal(await explainAll(true, "visible"), "4 Services are as they ask");
  assert.equal(await explainAll(false, "visible"), "1 Service is as it asks in namespace team");
});
