/**
 * What requests leave out of a backend pool. Members that are network interfaces are sent with the reference to their
 * interface, though it is read-only: whether Azure knows them by their names alone is not documented.
 */
import type { OmittedFields } from "../request-body.ts";

export const BACKEND_POOL_OMITS: OmittedFields = {
  readOnly: ["loadBalancingRules", "inboundNatRules", "outboundRule", "outboundRules"],
  parts: { loadBalancerBackendAddresses: { readOnly: ["inboundNatRulesPortMapping"] } },
};
