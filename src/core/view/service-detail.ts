/** One Service in full: where it stands, the way of a packet to it, who may send one, and what it is served without. */
import { driftPolicyOf } from "../service/drift-policy.ts";
import type { DriftPolicy } from "../intent/service-intent.ts";
import { serviceKey, type Service } from "../model/kubernetes.ts";
import { type AccessView, accessTo } from "./access.ts";
import { othersThan, withoutOthers } from "./fix.ts";
import type { Picture } from "./picture.ts";
import { lineOf, type ServiceLine, standingOf } from "./service-list.ts";
import { type FrontendView, frontendsOf, type PathsOptions, poolsOfService, type PoolView } from "./service-paths.ts";

export interface ServiceDetail extends ServiceLine {
  /** From what Azure has to what the Service asks for. */
  readonly differences?: string;
  /** What it is served without, or should know. */
  readonly remarks: readonly { readonly reason: string; readonly message: string }[];
  readonly externalTrafficPolicy: string;
  readonly sourceRanges: readonly string[];
  readonly driftPolicy: DriftPolicy;
  readonly frontends: readonly FrontendView[];
  readonly pools: readonly PoolView[];
  readonly access: readonly AccessView[];
  /** Why no packet gets through though everything is as it asks, where that is known. */
  readonly trouble: readonly string[];
}

export function findService({ services }: Picture, key: string): Service | undefined {
  return services.find((service) => serviceKey(service) === key);
}

export function detailOf(
  picture: Picture,
  service: Service,
  defaultPolicy: DriftPolicy,
  options: PathsOptions,
): ServiceDetail {
  const standing = standingOf(picture, service);
  const frontends = frontendsOf(picture, service, options);
  const pools = poolsOfService(picture, service, options);
  const others = options.showsOthers ? new Set<string>() : othersThan(service, picture.services);
  const told = (text: string): string => withoutOthers(text, others);
  const line = lineOf(picture, service, standing);
  return {
    ...line,
    ...(line.message !== undefined && { message: told(line.message) }),
    ...(standing.differences && { differences: told(standing.differences) }),
    remarks: (standing.warnings ?? []).map(({ reason, message }) => ({ reason, message: told(message) })),
    externalTrafficPolicy: service.spec.externalTrafficPolicy ?? "Cluster",
    sourceRanges: service.spec.loadBalancerSourceRanges ?? [],
    driftPolicy: driftPolicyOf(service, picture.config, defaultPolicy),
    frontends,
    pools,
    access: accessTo(
      picture.securityGroup,
      frontends.flatMap(({ address }) => address ?? []),
    ),
    trouble: troubleOf(picture, pools),
  };
}

function troubleOf({ unready, notices = [] }: Picture, pools: readonly PoolView[]): string[] {
  const empty = pools.filter(({ counts }) => counts.members === 0);
  const drained = pools.filter(({ counts }) => counts.members > 0 && counts.down === counts.members);
  const known = pools.flatMap(({ members }) => members).filter(({ hasEndpoint }) => hasEndpoint !== undefined);
  return [
    ...(unready === undefined ? [] : [`the controller writes nothing, for no Service: ${unready}`]),
    ...notices,
    ...empty.map(({ name }) => `pool "${name}" has no member: no node can be in it`),
    ...drained.map(({ name }) => `all members of pool "${name}" are Down: none takes new connections`),
    ...(known.length > 0 && known.every(({ hasEndpoint }) => hasEndpoint === false)
      ? ["no ready endpoint on any node: no pod of the Service is ready"]
      : []),
  ];
}
