/** All resource types of the emulator, by name. */
import { availabilitySet } from "./compute/availability-set.ts";
import { scaleSetInstance } from "./compute/scale-set-instance.ts";
import { scaleSet } from "./compute/scale-set.ts";
import { virtualMachine } from "./compute/virtual-machine.ts";
import { networkInterface } from "./network/network-interface/network-interface.ts";
import { privateEndpoint } from "./network/private-endpoint/private-endpoint.ts";
import { privateLinkService } from "./network/private-link-service/private-link-service.ts";
import { publicIp } from "./network/public-ip.ts";
import { publicIpPrefix } from "./network/public-ip-prefix.ts";
import { networkSecurityGroup } from "./network/security-group/security-group.ts";
import { virtualNetwork } from "./network/virtual-network/virtual-network.ts";
import { loadBalancer } from "./network/load-balancer/load-balancer.ts";
import { resourceGroup } from "./resource-group.ts";
import type { ResourceType } from "./resource-type.ts";

export const RESOURCE_TYPES: readonly ResourceType[] = [
  resourceGroup,
  loadBalancer,
  publicIp,
  publicIpPrefix,
  networkSecurityGroup,
  virtualNetwork,
  networkInterface,
  privateLinkService,
  privateEndpoint,
  availabilitySet,
  virtualMachine,
  scaleSet,
  scaleSetInstance,
];

const BY_NAME = new Map(RESOURCE_TYPES.map((type) => [type.type.toLowerCase(), type]));

/** Case-insensitive. */
export function findType(name: string): ResourceType | undefined {
  return BY_NAME.get(name.toLowerCase());
}

/** The type of a stored resource, which must exist. */
export function typeNamed(name: string): ResourceType {
  const type = findType(name);
  if (!type) throw new Error(`No such resource type: ${name}`);
  return type;
}
