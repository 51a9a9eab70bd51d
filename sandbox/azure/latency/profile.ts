/**
 * Azure's latency in seconds, from recorded traffic: per resource type, the reply time of a PUT and the time that its
 * operation stays InProgress afterwards (the tail). Replies are lognormal around the median, capped at the observed
 * maximum.
 */

export interface Reply {
  readonly p50: number;
  readonly p90: number;
  readonly max: number;
}

export interface WriteProfile {
  readonly reply: Reply;
  /** Usual tail of a PUT, and of a DELETE. */
  readonly tail: number;
  readonly deleteTail: number;
}

const network = "Microsoft.Network";
const compute = "Microsoft.Compute";

export const READ: Reply = { p50: 0.15, p90: 0.5, max: 3 };
export const DELETE_REPLY: Reply = { p50: 1, p90: 2, max: 4 };

/** Polls are fast: they only read the operation's status. */
export const POLL: Reply = { p50: 0.05, p90: 0.2, max: 1 };

export const OTHER: WriteProfile = { reply: { p50: 1, p90: 2, max: 4 }, tail: 1, deleteTail: 1 };

export const WRITES: Readonly<Record<string, WriteProfile>> = {
  [`${network}/loadBalancers`]: { reply: { p50: 3, p90: 6, max: 7 }, tail: 1, deleteTail: 0 },
  [`${network}/loadBalancers/backendAddressPools`]: { reply: { p50: 0.8, p90: 2, max: 4 }, tail: 1, deleteTail: 1 },
  [`${network}/loadBalancers/inboundNatRules`]: { reply: { p50: 1, p90: 2, max: 4 }, tail: 10, deleteTail: 1 },
  [`${network}/publicIPAddresses`]: { reply: { p50: 2.6, p90: 4, max: 7 }, tail: 1, deleteTail: 5 },
  [`${network}/publicIPPrefixes`]: { reply: { p50: 3, p90: 4, max: 4 }, tail: 4, deleteTail: 5 },
  [`${network}/networkSecurityGroups`]: { reply: { p50: 2, p90: 3, max: 5 }, tail: 1, deleteTail: 5 },
  [`${network}/networkSecurityGroups/securityRules`]: { reply: { p50: 2, p90: 3, max: 5 }, tail: 5, deleteTail: 5 },
  [`${network}/networkInterfaces`]: { reply: { p50: 2, p90: 5, max: 6 }, tail: 1, deleteTail: 1 },
  [`${network}/virtualNetworks`]: { reply: { p50: 2, p90: 4, max: 6 }, tail: 10, deleteTail: 1 },
  [`${network}/virtualNetworks/subnets`]: { reply: { p50: 0.4, p90: 1, max: 3 }, tail: 1, deleteTail: 10 },
  [`${network}/privateLinkServices`]: { reply: { p50: 4, p90: 6, max: 6 }, tail: 10, deleteTail: 11 },
  [`${compute}/virtualMachineScaleSets`]: { reply: { p50: 6, p90: 8, max: 12 }, tail: 40, deleteTail: 40 },
  [`${compute}/virtualMachineScaleSets/virtualMachines`]: {
    reply: { p50: 3, p90: 4, max: 4 },
    tail: 20,
    deleteTail: 40,
  },
  [`${compute}/virtualMachines`]: { reply: { p50: 3, p90: 4, max: 8 }, tail: 20, deleteTail: 30 },
};

/** One operation in twenty is slow: its tail is drawn evenly from this range. */
export const SLOW_SHARE = 0.05;
export const SLOW_TAIL = { from: 10, to: 30 };

/** A backend pool takes about a second longer for every hundred members. */
export const SECONDS_PER_MEMBER = 0.01;

/** Retry-After of polls. */
export const RETRY_AFTER_SECONDS = 10;
export const RETRY_AFTER_PUBLIC_IP_SECONDS = 3;
