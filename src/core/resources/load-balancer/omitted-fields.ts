/** What requests leave out of a load balancer and its parts. */
import { BACKEND_POOL_OMITS } from "../backend-pool/omitted-fields.ts";
import type { OmittedFields } from "../request-body.ts";

const USERS_OF_FRONTEND = ["loadBalancingRules", "inboundNatRules", "inboundNatPools", "outboundRules"];

export const LOAD_BALANCER_OMITS: OmittedFields = {
  readOnly: ["resourceGuid"],
  parts: {
    frontendIPConfigurations: {
      readOnly: USERS_OF_FRONTEND,
      filledIn: {
        privateIPAllocationMethod: (value, { publicIPAddress }) => value === "Dynamic" && publicIPAddress !== undefined,
      },
    },
    backendAddressPools: {
      ...BACKEND_POOL_OMITS,
      // members that join by their network interface are not written with the load balancer
      readOnly: [...(BACKEND_POOL_OMITS.readOnly ?? []), "backendIPConfigurations"],
    },
    loadBalancingRules: {
      filledIn: {
        backendAddressPools: (pools, { backendAddressPool: pool }) => JSON.stringify(pools) === JSON.stringify([pool]),
        enableDestinationServiceEndpoint: (value) => value === false,
        allowBackendPortConflict: (value) => value === false,
      },
    },
    probes: { readOnly: ["loadBalancingRules"] },
    inboundNatRules: {},
    inboundNatPools: {},
    outboundRules: {},
  },
};
