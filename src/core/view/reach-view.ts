/** Would a packet get to a Service, judged by what the controller holds in memory; `core/reach` decides it. */
import { serviceKey, type Service } from "../model/kubernetes.ts";
import { type Reach, reachService, type ReachQuery } from "../reach/reach-service.ts";
import type { Picture } from "./picture.ts";

export function reachView(picture: Picture, service: Service, query: Omit<ReachQuery, "endpoints">): Reach[] {
  const key = serviceKey(service);
  const own = picture.endpointSlices?.filter((slice) => slice.service === key);
  const endpoints = own ?? "the controller does not watch them";
  return reachService({ ...picture, network: [] }, service, { ...query, endpoints });
}
