/** Resource providers: always registered; Microsoft.Compute lists the zones of each region. */
import { reply, type Call } from "./call.ts";
import type { Decision } from "./contract.ts";
import { gateway } from "./errors.ts";
import { RESOURCE_TYPES } from "./registry.ts";

const DEFAULT_REGION = "westus2";
const ZONES = ["1", "2", "3"];
const API_VERSIONS = ["2026-04-01", "2025-04-01", "2024-11-01"];

export function answerProvider(call: Call, subscription: string, provider: string): Decision {
  const namespace = ["Microsoft.Network", "Microsoft.Compute"].find(
    (name) => name.toLowerCase() === provider.toLowerCase(),
  );
  if (!namespace) throw gateway(404, "InvalidResourceNamespace", `The resource namespace '${provider}' is invalid.`);
  const { regions } = call.state.options;
  const locations = regions.length > 0 ? regions : [DEFAULT_REGION];
  const types = RESOURCE_TYPES.filter((type) => type.type.startsWith(`${namespace}/`));
  return reply(call, {
    status: 200,
    headers: {},
    body: {
      id: `/subscriptions/${subscription}/providers/${namespace}`,
      namespace,
      registrationPolicy: "RegistrationRequired",
      registrationState: "Registered",
      resourceTypes: types.map((type) => ({
        resourceType: type.type.slice(namespace.length + 1),
        locations,
        apiVersions: API_VERSIONS,
        zoneMappings: locations.map((location) => ({ location, zones: ZONES })),
      })),
    },
  });
}
