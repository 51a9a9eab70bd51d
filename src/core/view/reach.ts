/**
 * Would a packet from a source get to a Service, and what decides it: the frontend, the rule, the security group, the
 * members of the pool. Each is a check, in the order of the packet's way; the first that fails is where it ends. Judged by
 * what the controller knows, which is Azure's settings: whether a pod answers is not among them.
 */
import type { Service } from "../model/kubernetes.ts";
import { securityVerdict } from "../reach/security-verdict.ts";
import { parseAddress } from "../util/cidr.ts";
import type { Picture } from "./picture.ts";
import { type FrontendView, frontendsOf, poolsOfService, type PoolView, type RuleView } from "./service-paths.ts";

export interface ReachQuery {
  readonly source: string;
  /** Absent: each port of the Service. */
  readonly port?: number | undefined;
}

interface Check {
  readonly at: "address" | "rule" | "security group" | "members";
  readonly passes: boolean;
  /** Names what decides. */
  readonly text: string;
}

export interface Reach {
  readonly address?: string;
  readonly port: number;
  readonly protocol: string;
  readonly reaches: boolean;
  readonly checks: readonly Check[];
}

export function reachOf(picture: Picture, service: Service, query: ReachQuery): Reach[] {
  const options = { showsOthers: false, mostMembers: Number.MAX_SAFE_INTEGER };
  const frontends = frontendsOf(picture, service, options);
  const pools = poolsOfService(picture, service, options);
  const asked = service.spec.ports.filter(({ port }) => query.port === undefined || query.port === port);
  const ports = asked.length > 0 ? asked : [{ port: query.port ?? 0, protocol: "TCP" as const }];
  const targets = frontends.length > 0 ? frontends : [undefined];
  return targets.flatMap((frontend) =>
    ports.map(({ port, protocol }) => {
      const checks = untilFailed(wayOf(picture, frontend, pools, { source: query.source, port, protocol }));
      const reaches = checks.every(({ passes }) => passes);
      return { ...(frontend?.address !== undefined && { address: frontend.address }), port, protocol, reaches, checks };
    }),
  );
}

function untilFailed(checks: Iterable<Check>): Check[] {
  const made: Check[] = [];
  for (const check of checks) {
    made.push(check);
    if (!check.passes) break;
  }
  return made;
}

interface Asked {
  readonly source: string;
  readonly port: number;
  readonly protocol: string;
}

function* wayOf(
  picture: Picture,
  frontend: FrontendView | undefined,
  pools: readonly PoolView[],
  { source, port, protocol }: Asked,
): Generator<Check> {
  const address = frontend?.address;
  yield address === undefined
    ? { at: "address", passes: false, text: "the Service has no address in Azure yet" }
    : {
        at: "address",
        passes: true,
        text: `${address} is frontend "${frontend?.name}" of load balancer "${frontend?.loadBalancer}"`,
      };
  const rule = frontend?.rules.find((one) => one.port === 0 || (one.port === port && one.protocol === protocol));
  yield rule === undefined
    ? { at: "rule", passes: false, text: `no rule of the Service takes port ${port}/${protocol}` }
    : { at: "rule", passes: true, text: `rule "${rule.name}" sends it to pool "${rule.pool ?? ""}"` };
  if (rule === undefined || address === undefined) return;
  const pool = pools.find(({ name, loadBalancer }) => name === rule.pool && loadBalancer === frontend?.loadBalancer);
  yield securityCheck(picture, rule, pool, { source, port, protocol, address });
  const able = (pool?.members ?? []).filter(({ adminState }) => adminState !== "Down");
  const behind = able.filter(({ hasEndpoint }) => hasEndpoint !== false);
  const count = pool?.counts.members ?? 0;
  yield {
    at: "members",
    passes: behind.length > 0,
    text:
      behind.length > 0
        ? `${behind.length} of ${count} members may take it${rule.probe === undefined ? "" : `, where the probe ${rule.probe} passes`}`
        : able.length > 0
          ? "no node has a ready endpoint of the Service"
          : `none of the ${count} members of the pool takes new connections`,
  };
}

function securityCheck(
  { securityGroup }: Picture,
  { keepsAddress, backendPort, port: frontendPort }: RuleView,
  pool: PoolView | undefined,
  { source, port, protocol, address }: Asked & { readonly address: string },
): Check {
  const node = pool?.members.find((member) => member.address !== undefined)?.address ?? address;
  const destination = keepsAddress ? address : node;
  const seen = keepsAddress || frontendPort === 0 ? port : (backendPort ?? port);
  const [from, to] = [parseAddress(source), parseAddress(destination)];
  if (from === undefined || to === undefined) {
    return { at: "security group", passes: false, text: `"${source}" is not an address` };
  }
  const packet = { source: from, destination: to, port: seen, protocol: protocol === "UDP" ? "UDP" : "TCP" } as const;
  const { access, rule, priority } = securityVerdict(securityGroup, packet);
  const by = `rule "${rule}" (priority ${priority})`;
  const text = {
    Allow: `let in by ${by}`,
    Deny: `denied by ${by}`,
    unknown: `not known: ${by} names a service tag or an application security group, which only Azure can resolve`,
  }[access];
  return { at: "security group", passes: access === "Allow", text };
}
