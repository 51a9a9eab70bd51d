/**
 * `loadBalancerFleet: {max: N}`: how many Standard load balancers of each kind the controller may make as the ones before
 * fill up (`resources/load-balancer/place-in-fleet.ts`). Settings that cannot go with it are refused here.
 */
import { closestMatch } from "../util/text.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { type ConfigReader, isRecord } from "./config-reader.ts";

const KEY = "loadBalancerFleet";
const FIELDS = ["max"] as const;
/** Azure allows 1,000 load balancers for each subscription and region; external and internal ones count alike. */
const MOST = 500;

interface Surroundings extends Pick<ClusterConfig, "sku" | "poolType"> {
  /** `multipleStandardLoadBalancerConfigurations` are given. */
  readonly hasSeveral: boolean;
}

/** 1: no fleet. What is wrong is added to the errors of `read`. */
export function parseFleet(read: ConfigReader, surroundings: Surroundings): number {
  const raw = read.raw(KEY);
  if (raw === undefined || raw === null) return 1;
  if (!isRecord(raw)) {
    read.errors.push(`${KEY} is ${JSON.stringify(raw)}, allowed: an object such as {"max": 4}`);
    return 1;
  }
  for (const field of Object.keys(raw).filter((name) => name.toLowerCase() !== "max")) {
    read.errors.push(`unknown field ${KEY}.${field}: did you mean ${closestMatch(field, FIELDS)}?`);
  }
  read.errors.push(...refuseTogether(surroundings));
  const max = Object.entries(raw).find(([name]) => name.toLowerCase() === "max")?.[1];
  if (typeof max === "number" && Number.isInteger(max) && max >= 1 && max <= MOST) return max;
  read.errors.push(
    max === undefined
      ? `${KEY}.max is missing: say how many load balancers of each kind may be made, 1 to ${MOST}`
      : `${KEY}.max is ${JSON.stringify(max)}, allowed: a whole number from 1 to ${MOST}`,
  );
  return 1;
}

function refuseTogether({ sku, poolType, hasSeveral }: Surroundings): string[] {
  return [
    ...(sku === "standard"
      ? []
      : [`${KEY} needs loadBalancerSku standard, but it is ${sku}: set it to standard, or remove ${KEY}`]),
    ...(poolType === "nodeIP"
      ? []
      : [
          `${KEY} needs loadBalancerBackendPoolConfigurationType nodeIP, but it is ${poolType}: a network interface can be ` +
            `in the pools of one external and one internal load balancer only; set it to nodeIP, or remove ${KEY}`,
        ]),
    ...(hasSeveral
      ? [
          `${KEY} and multipleStandardLoadBalancerConfigurations both say where Services are placed: remove one of them. ` +
            "The list has its own way to grow: add an item to it",
        ]
      : []),
  ];
}
