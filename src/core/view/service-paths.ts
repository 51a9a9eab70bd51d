/**
 * The way of a packet to a Service, as Azure has it: address → port → rule → pool → node → endpoint. Parts of others that
 * stand on the same address or in the same pool are shown as theirs; nothing here decides what to do about them.
 */
import { adminStateOf, drainReasons } from "../admin-state/reconcile-admin-state.ts";
import type { BackendAddress, BackendPool, Frontend, LoadBalancer, LoadBalancingRule } from "../model/arm.ts";
import { nameOfId } from "../model/ids.ts";
import { serviceKey, type Service } from "../model/kubernetes.ts";
import { baseName, isServiceBase } from "../model/names.ts";
import {
  frontendOf,
  loadBalancerIndex,
  loadBalancersWith,
  type LoadBalancerIndex,
  partsOf,
  poolNamesOf,
  standingOn,
} from "../resources/load-balancer/load-balancer-index.ts";
import { keyIn } from "../resources/load-balancer/part-user.ts";
import { ANOTHER_SERVICE } from "./fix.ts";
import type { Picture } from "./picture.ts";

export interface FrontendView {
  readonly loadBalancer: string;
  readonly name: string;
  /** Absent until Azure has given it one, or the controller has read it. */
  readonly address?: string;
  readonly publicIP?: string;
  readonly rules: readonly RuleView[];
  /** What else stands on the same address: another Service by its key where the reader may know it, or a foreign part. */
  readonly others: readonly string[];
}

interface RuleView {
  readonly name: string;
  readonly protocol: string;
  /** 0: all ports. */
  readonly port: number;
  readonly backendPort?: number;
  /** The packet arrives at the node with the frontend's address. */
  readonly keepsAddress: boolean;
  readonly pool?: string;
  /** As in `HTTP :30256/healthz`. */
  readonly probe?: string;
}

export interface PoolView {
  readonly loadBalancer: string;
  readonly name: string;
  readonly counts: { readonly members: number; readonly down: number; readonly foreign: number };
  /** Those that are Down and foreign ones first; cut where there are many: `counts` has them all. */
  readonly members: readonly MemberView[];
}

interface MemberView {
  readonly name: string;
  readonly address?: string;
  readonly adminState: string;
  /** No Node of this cluster: not ours, untouched. */
  readonly isForeign: boolean;
  /** Why its node is held Down. */
  readonly drain?: readonly string[];
  /** Whether an endpoint of the Service is on it; absent: the controller does not watch endpoints. */
  readonly hasEndpoint?: boolean;
}

export interface PathsOptions {
  /** Whether the reader may know the other Services. */
  readonly showsOthers: boolean;
  readonly mostMembers: number;
}

export function frontendsOf(picture: Picture, service: Service, { showsOthers }: PathsOptions): FrontendView[] {
  const base = baseName(service.metadata.uid).toLowerCase();
  return loadBalancersWith(picture.loadBalancers, base).flatMap((loadBalancer) => {
    const index = loadBalancerIndex(loadBalancer);
    const { rules } = partsOf(index, base);
    return standingOn(index, base).map((frontend): FrontendView => {
      const name = frontend.name.toLowerCase();
      const own = rules.filter(({ properties }) => frontendOf(properties.frontendIPConfiguration) === name);
      const users = (index.users.get(name) ?? []).filter((user) => user.base !== base);
      const nameOf = ({ kind, name: part, base: other }: (typeof users)[number]): string => {
        const key = isServiceBase(other) ? keyIn(picture.services, other) : undefined;
        if (key === undefined) return `${kind} "${part}"`;
        return showsOthers ? `Service ${key}` : ANOTHER_SERVICE;
      };
      return {
        loadBalancer: loadBalancer.name,
        name: frontend.name,
        ...addressOf(picture, frontend),
        rules: own.map((rule) => ruleView(index, rule)),
        others: [...new Set(users.map(nameOf))],
      };
    });
  });
}

function addressOf({ publicIPs }: Picture, { properties }: Frontend): { address?: string; publicIP?: string } {
  const { privateIPAddress, publicIPAddress } = properties;
  if (publicIPAddress === undefined) return privateIPAddress === undefined ? {} : { address: privateIPAddress };
  const found = publicIPs.find(({ id }) => id.toLowerCase() === publicIPAddress.id.toLowerCase());
  const address = found?.properties.ipAddress;
  return { publicIP: nameOfId(publicIPAddress.id), ...(address !== undefined && { address }) };
}

function ruleView(index: LoadBalancerIndex, { name, properties }: LoadBalancingRule): RuleView {
  const { protocol, frontendPort, backendPort, enableFloatingIP, backendAddressPool, probe } = properties;
  const seen = probe && index.probes.get(nameOfId(probe.id).toLowerCase())?.properties;
  return {
    name,
    protocol: protocol.toUpperCase(),
    port: frontendPort,
    ...(backendPort !== undefined && { backendPort }),
    keepsAddress: enableFloatingIP === true,
    ...(backendAddressPool !== undefined && { pool: nameOfId(backendAddressPool.id) }),
    ...(seen !== undefined && { probe: `${seen.protocol.toUpperCase()} :${seen.port}${seen.requestPath ?? ""}` }),
  };
}

export function poolsOfService(picture: Picture, service: Service, options: PathsOptions): PoolView[] {
  const base = baseName(service.metadata.uid).toLowerCase();
  const endpoints = endpointNodes(picture, service);
  return loadBalancersWith(picture.loadBalancers, base).flatMap((loadBalancer) => {
    const index = loadBalancerIndex(loadBalancer);
    const names = new Set(partsOf(index, base).rules.flatMap(poolNamesOf));
    return [...names].flatMap((name) => {
      const pool = index.pools.get(name);
      return pool === undefined ? [] : [poolView(picture, loadBalancer, pool, endpoints, options)];
    });
  });
}

/** `undefined`: not watched. */
function endpointNodes({ endpointSlices }: Picture, service: Service): ReadonlySet<string> | undefined {
  const key = serviceKey(service);
  return (
    endpointSlices &&
    new Set(endpointSlices.filter((slice) => slice.service === key).flatMap((slice) => slice.nodeNames))
  );
}

function poolView(
  picture: Picture,
  loadBalancer: LoadBalancer,
  pool: BackendPool,
  endpoints: ReadonlySet<string> | undefined,
  { mostMembers }: PathsOptions,
): PoolView {
  const entries = pool.properties.loadBalancerBackendAddresses ?? [];
  const members = entries.map((entry) => memberView(picture, entry, endpoints));
  const down = members.filter(({ adminState }) => adminState === "Down").length;
  const foreign = members.filter(({ isForeign }) => isForeign).length;
  const rank = ({ adminState, isForeign }: MemberView): number => (adminState === "Down" ? 0 : isForeign ? 1 : 2);
  const sorted = members.sort((one, other) => rank(one) - rank(other));
  return {
    loadBalancer: loadBalancer.name,
    name: pool.name,
    counts: { members: members.length, down, foreign },
    members: sorted.slice(0, mostMembers),
  };
}

function memberView(
  { nodeOf }: Picture,
  entry: BackendAddress,
  endpoints: ReadonlySet<string> | undefined,
): MemberView {
  const node = nodeOf(entry);
  const drain = node === undefined ? [] : drainReasons(node);
  const { ipAddress } = entry.properties;
  return {
    name: node?.metadata.name ?? entry.name,
    ...(ipAddress !== undefined && { address: ipAddress }),
    adminState: adminStateOf(entry),
    isForeign: node === undefined,
    ...(drain.length > 0 && { drain }),
    ...(node !== undefined && endpoints !== undefined && { hasEndpoint: endpoints.has(node.metadata.name) }),
  };
}
