/** A LoadBalancerDriver as the API server sends it. */
import { parseDurationMs } from "../objects/durations.ts";
import type { Driver } from "../objects/objects.ts";
import { listOf, objectOf, optional, textOf } from "../objects/read-json.ts";
import { type Stored, parts, metaOf, conditionsOf } from "../objects/read-common.ts";

export function readDriver(object: Stored): Driver {
  const { metadata, spec, status } = parts(object);
  const webhooks = listOf(spec["webhooks"]).map(objectOf);
  const timeouts = webhooks.flatMap((webhook) => {
    const ms = parseDurationMs(textOf(webhook["timeout"]));
    return ms === undefined ? [] : [[textOf(webhook["name"]), ms] as const];
  });
  return {
    metadata: metaOf(metadata),
    spec: {
      url: textOf(spec["url"]),
      timeoutsMs: Object.fromEntries(timeouts),
      ...optional("caBundle", textOf(spec["caBundle"]) || undefined),
    },
    status: { conditions: conditionsOf(status) },
  };
}
