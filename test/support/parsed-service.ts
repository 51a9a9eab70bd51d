/** Services parsed in tests: what a shape comes to, or why it is refused. */
import assert from "node:assert/strict";
import type { ClusterConfig } from "../../src/core/config/cluster-config.ts";
import type { Service } from "../../src/core/model/kubernetes.ts";
import { parseService } from "../../src/core/intent/parse-service.ts";
import type { ServiceIntent } from "../../src/core/intent/service-intent.ts";
import type { Rejection, Warning } from "../../src/core/outcome.ts";
import { aService, CONFIG, type ServiceShape } from "./core-fixtures.ts";

interface Accepted {
  readonly intent: ServiceIntent;
  readonly warnings: readonly Warning[];
}

export function accepted(shape: ServiceShape, config: Partial<ClusterConfig> = {}): Accepted {
  const parsed = parseService(aService(shape), { ...CONFIG, ...config });
  assert.ok("intent" in parsed, JSON.stringify(parsed));
  return parsed;
}

export function refused(shape: ServiceShape, config: Partial<ClusterConfig> = {}): Rejection {
  const parsed = parseService(aService(shape), { ...CONFIG, ...config });
  assert.ok(!("intent" in parsed), JSON.stringify(parsed));
  return parsed;
}

export function intentOf(service: Service): ServiceIntent {
  const parsed = parseService(service, CONFIG);
  assert.ok("intent" in parsed, JSON.stringify(parsed));
  return parsed.intent;
}
