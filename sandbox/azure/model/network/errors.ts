/** Errors that several types of resources share. */
import { invalid, type ArmError } from "../errors.ts";

export function cannotMix(poolId: string): ArmError {
  return invalid(
    "CannotMixIPBasedAddressesAndIPConfigurationsOnLoadBalancerBackendAddressPool",
    `Mixing backend ipconfigurations and IPAddresses in backend pool ${poolId} is not allowed.`,
  );
}

export function poolTooLarge(poolId: string, size: number, limit: number): ArmError {
  return invalid(
    "BackendAddressPoolSizeLimitReached",
    `Backend pool ${poolId} has ${size} members. It cannot have more than ${limit}.`,
  );
}

export function publicIpInUse(configuration: string, publicIp: string, holder: string): ArmError {
  return invalid(
    "PublicIPAddressInUse",
    `Resource ${configuration} is referencing public IP address ${publicIp} that is already allocated to resource ${holder}.`,
  );
}

/** Two load balancers of one type (public, or internal) use the same port of one NIC configuration. */
export function portClash(configuration: string, first: string, second: string): ArmError {
  const code = configuration.includes("/virtualMachineScaleSets/")
    ? "RulesOfSameLoadBalancerTypeUseSameBackendPortProtocolAndVmssIPConfig"
    : "RulesOfSameLoadBalancerTypeUseSameBackendPortProtocolAndIPConfig";
  return invalid(
    code,
    `Load balancing rules ${first} and ${second} belong to load balancers of the same type and use the same backend ` +
      `port and protocol with IP configuration ${configuration}.`,
  );
}
