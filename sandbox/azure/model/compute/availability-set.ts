/** Availability sets. Writes are synchronous; the machines that reference a set are its members. */
import { invalid } from "../errors.ts";
import { keyOf } from "../ids.ts";
import { propertiesOf } from "../json.ts";
import { referrers } from "../lookups.ts";
import type { ResourceType } from "../resource-type.ts";
import { computeEnvelope, writtenProperties, writtenTop } from "./envelope.ts";

const DEFAULTS = { platformUpdateDomainCount: 5, platformFaultDomainCount: 3 } as const;

export const availabilitySet: ResourceType = {
  type: "Microsoft.Compute/availabilitySets",
  operation: "AvailabilitySet",
  nameRule: "network",
  children: [],
  deleteStatus: 200,
  createStatus: 200,
  synchronousDelete: true,
  plan: (_input, body) => {
    const { virtualMachines: _, ...written } = writtenProperties(body);
    const stored = { sku: { name: "Classic" }, ...writtenTop(body), properties: { ...DEFAULTS, ...written } };
    return { body: stored, assigned: {}, pace: "headerless" };
  },
  references: () => [],
  render: (state, resource) => {
    const machines = referrers(state, keyOf(resource.id), "availabilitySet").map((user) => ({ id: user.from }));
    return computeEnvelope(resource, { ...propertiesOf(resource.body), virtualMachines: machines });
  },
  checkDelete: (state, resource) => {
    const [machine] = referrers(state, keyOf(resource.id), "availabilitySet");
    if (machine)
      throw invalid(
        "OperationNotAllowed",
        `Availability Set '${resource.id}' cannot be deleted. Before deleting, make sure it contains no VM: ${machine.from}.`,
      );
  },
};
