/** Resource providers: always registered; each type lists the regions and their zones. */
import { reply, type Call } from "./call.ts";
import type { Decision } from "./contract.ts";
import { gateway } from "./errors.ts";
import type { Json } from "./json.ts";
import { RESOURCE_TYPES } from "./registry.ts";
import type { State } from "./state.ts";

const DEFAULT_REGION = "westus2";
const ZONES = ["1", "2", "3"];

/** Newest first. */
const API_VERSIONS = {
  "Microsoft.Network": ["2026-01-01", "2025-05-01", "2025-01-01", "2024-05-01", "2022-07-01"],
  "Microsoft.Compute": ["2026-04-01", "2025-04-01", "2024-11-01", "2024-07-01"],
} as const;

export const PROVIDERS = ["Microsoft.Network", "Microsoft.Compute"] as const;

export function answerProvider(call: Call, subscription: string, provider: string): Decision {
  const namespace = PROVIDERS.find((name) => name.toLowerCase() === provider.toLowerCase());
  if (!namespace) throw gateway(404, "InvalidResourceNamespace", `The resource namespace '${provider}' is invalid.`);
  return reply(call, { status: 200, headers: {}, body: providerBody(call.state, subscription, namespace) });
}

/** The first one is the provider's home. */
export function regionsOf({ options: { regions } }: State): readonly string[] {
  return regions.length > 0 ? regions : [DEFAULT_REGION];
}

export function providerBody(state: State, subscription: string, namespace: (typeof PROVIDERS)[number]): Json {
  const locations = [...regionsOf(state)];
  const types = RESOURCE_TYPES.filter((type) => type.type.startsWith(`${namespace}/`));
  return {
    id: `/subscriptions/${subscription}/providers/${namespace}`,
    namespace,
    registrationPolicy: "RegistrationRequired",
    registrationState: "Registered",
    resourceTypes: types.map((type) => ({
      resourceType: type.type.slice(namespace.length + 1),
      locations,
      apiVersions: [...API_VERSIONS[namespace]],
      zoneMappings: locations.map((location) => ({ location, zones: ZONES })),
    })),
  };
}
