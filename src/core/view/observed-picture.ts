/** The picture of a command's own look at one Service: what is in Azure. Where the Service stands only the controller knows. */
import type { EndpointSlice } from "../model/kubernetes.ts";
import type { Observed } from "../observed.ts";
import { surroundingsOf } from "../reach/observed-surroundings.ts";
import type { Picture } from "./picture.ts";

/** `endpoints`: of the Service; `undefined`: they could not be looked at. */
export function pictureOfLook(observed: Observed, endpoints: readonly EndpointSlice[] | undefined): Picture {
  const { config, classFilter, otherServices, service, nodes } = observed;
  return {
    config,
    classFilter,
    services: [...otherServices.filter((one) => one.metadata.uid !== service.metadata.uid), service],
    findAny: () => undefined,
    nodes,
    ...surroundingsOf(observed),
    ...(endpoints && { endpointSlices: endpoints }),
    standings: new Map(),
    unready: undefined,
  };
}
