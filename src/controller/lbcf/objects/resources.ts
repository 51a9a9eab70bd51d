/** LBCF's kinds, as the API server names them. */
import { LBCF_GROUP } from "../../../core/lbcf/objects/names.ts";
import type { Resource } from "../../../kube/client/resources.ts";

const v1beta1 = { group: LBCF_GROUP, version: "v1beta1", namespaced: true };

export const DRIVERS: Resource = { ...v1beta1, plural: "loadbalancerdrivers", kind: "LoadBalancerDriver" };
export const LOAD_BALANCERS: Resource = { ...v1beta1, plural: "loadbalancers", kind: "LoadBalancer" };
export const BACKEND_GROUPS: Resource = { ...v1beta1, plural: "backendgroups", kind: "BackendGroup" };
export const BACKEND_RECORDS: Resource = { ...v1beta1, plural: "backendrecords", kind: "BackendRecord" };
export const BINDS: Resource = { ...v1beta1, version: "v1", plural: "binds", kind: "Bind" };
