/**
 * What a cloud config that changed while the controller runs leads to. Settings that name the cluster or where and how its
 * load balancers are built move addresses or traffic of published Services: they need a start, where the configuration guard
 * compares them with Azure. All others are applied.
 */
import type { ClusterConfig } from "../config/cluster-config.ts";

/** By setting: its key in the cloud config. */
const FIXED = {
  clusterName: "--cluster-name",
  subscriptionId: "subscriptionId",
  networkSubscriptionId: "networkResourceSubscriptionID",
  resourceGroup: "resourceGroup",
  loadBalancerResourceGroup: "loadBalancerResourceGroup",
  loadBalancerName: "loadBalancerName",
  sku: "loadBalancerSku",
  vmType: "vmType",
  poolType: "loadBalancerBackendPoolConfigurationType",
} as const satisfies Partial<Record<keyof ClusterConfig, string>>;

export type LiveChange =
  | { readonly kind: "none" }
  /** `settings`: the names of those that differ, sorted. */
  | { readonly kind: "apply"; readonly settings: readonly string[] }
  | { readonly kind: "refuse"; readonly message: string };

export function liveChange(inForce: ClusterConfig, read: ClusterConfig): LiveChange {
  const fixed = Object.entries(FIXED) as [keyof typeof FIXED, string][];
  const refused = fixed
    .filter(([setting]) => inForce[setting] !== read[setting])
    .map(
      ([setting, key]) => `${key} is "${read[setting]}" now and was "${inForce[setting]}" when the controller started`,
    );
  if (refused.length > 0) {
    const fix = "set it back, or restart the controller, with --accept-change where it asks for that";
    return { kind: "refuse", message: `${refused.join("; ")}. That is not changed while the controller runs: ${fix}` };
  }
  const settings = (Object.keys(read) as (keyof ClusterConfig)[]).filter(
    (setting) => JSON.stringify(inForce[setting]) !== JSON.stringify(read[setting]),
  );
  return settings.length === 0 ? { kind: "none" } : { kind: "apply", settings: settings.sort() };
}
