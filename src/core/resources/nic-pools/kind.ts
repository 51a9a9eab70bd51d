/**
 * Membership in pools of network interfaces, as the table of resource kinds has it: written to the network interface,
 * the scale set or the scale-set instance that joins or leaves.
 */
import { type OmittedFields, requestBody } from "../request-body.ts";
import { type ResourceKind, rightsOn, USUAL_WINDOW_SHARE } from "../resource-kind.ts";
import type { NicPoolsFragment } from "./fragment.ts";
import { type Attachable, isInstance, isNetworkInterface, isScaleSet, mergeNicPools } from "./merge-nic-pools.ts";
import { predictPoolMembers } from "./predict-pool-members.ts";

const INTERFACES = "Microsoft.Network/networkInterfaces";
const SCALE_SETS = "Microsoft.Compute/virtualMachineScaleSets";
const INSTANCES = `${SCALE_SETS}/virtualMachines`;

/** Scale sets and instances are sent whole: one body holds few of them. */
const INTERFACE_OMITS: OmittedFields = { readOnly: ["resourceGuid"], parts: { ipConfigurations: {} } };

export const nicPoolsKind: ResourceKind<NicPoolsFragment, Attachable, "own"> = {
  noun: "machine or network interface",
  metricLabel: "attachment",
  types: [
    { type: INTERFACES, noun: "network interface", read: "list" },
    { type: SCALE_SETS, noun: "scale set", read: "list" },
    { type: INSTANCES, noun: "machine", read: "list", listQuery: "$expand=instanceView" },
  ],
  rights: [
    ...rightsOn(INTERFACES, "read", "write"),
    ...rightsOn(SCALE_SETS, "read", "write"),
    ...rightsOn(INSTANCES, "read", "write"),
    "Microsoft.Compute/virtualMachines/read",
    "Microsoft.Network/loadBalancers/backendAddressPools/join/action",
  ],
  ownerOf: undefined,
  batchWindowShare: USUAL_WINDOW_SHARE,
  merge: mergeNicPools,
  requestBody: (body) => (isNetworkInterface(body) ? requestBody(body, INTERFACE_OMITS) : body),
  refresh: undefined,
  observed: "own",
  find: ({ compute }, id) => {
    const key = id.toLowerCase();
    return compute?.networkInterfaces.get(key) ?? compute?.scaleSets.get(key) ?? compute?.instances.get(key);
  },
  /** Machines are made and deleted by others. */
  replace: (azure, id, body) => {
    if (azure.compute === undefined || body === undefined) return azure;
    const put = <Body>(bodies: ReadonlyMap<string, Body>, isOne: (one: Attachable) => one is Attachable & Body) =>
      isOne(body) && bodies.has(id.toLowerCase()) ? new Map([...bodies, [id.toLowerCase(), body]]) : bodies;
    const compute = {
      ...azure.compute,
      networkInterfaces: put(azure.compute.networkInterfaces, isNetworkInterface),
      scaleSets: put(azure.compute.scaleSets, isScaleSet),
      instances: put(azure.compute.instances, isInstance),
    };
    return { ...azure, compute, loadBalancers: predictPoolMembers(azure.loadBalancers, compute) };
  },
  publicIPsAfter: undefined,
};
