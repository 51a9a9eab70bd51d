/**
 * A Service that is served, and whose wish has not changed since, keeps its address: no write of ours takes the frontend
 * or the public IP from under it, and its status keeps saying so. What others take from it is not our doing.
 *
 * Also: what a status promises is there when it is promised; and a public IP is not asked to go while a frontend of ours
 * stands on it.
 */
import type { HistoryEntry, KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import type { State } from "../../sandbox/azure/model/index.ts";
import { propertiesOf, type Json } from "../../sandbox/azure/model/json.ts";
import { projectService } from "../../src/controller/projections.ts";
import type { ClusterConfig } from "../../src/core/config/cluster-config.ts";
import { isApplied } from "../../src/core/service/applied-state.ts";
import type { KubeObject as StoredObject } from "../../src/kube/client/resources.ts";
import type { ArmWrite } from "../environment/simulated-azure.ts";
import { ADDITIONAL_IP } from "../actions/service-templates.ts";
import { ingressOf } from "../actions/services.ts";
import {
  addressOf,
  baseIn,
  frontendAt,
  isForeign,
  lastName,
  LOAD_BALANCER,
  nameOf as nameIn,
  partsOf,
  PUBLIC_IP,
} from "./azure-state.ts";
import type { Law, Report } from "./law.ts";

export interface AddressLawOptions {
  readonly report: Report;
  readonly azure: State;
  readonly services: () => readonly KubeObject[];
  readonly config: ClusterConfig;
  /** `load balancer/collection/part`: what others have put back. */
  readonly putBack: ReadonlySet<string>;
}

export class AddressLaw implements Law {
  readonly #options: AddressLawOptions;
  /** Addresses with a frontend, as of the last write. */
  #served = new Set<string>();
  /** Addresses whose frontend others took away, and that have none since. */
  readonly #robbed = new Set<string>();
  /** Addresses whose frontend others ever took away: then nothing may tell any more whose they were. */
  readonly everRobbed = new Set<string>();

  /** `load balancer/collection/part`: frontends that others have put on another public IP. */
  readonly #movedByOthers = new Set<string>();

  /** What is stored never changes: a Service that does is another object. */
  readonly #stable = new WeakMap<KubeObject, boolean>();

  constructor(options: AddressLawOptions) {
    this.#options = options;
  }

  onOurWrite(write: ArmWrite): void {
    const before = this.#served;
    const now = this.#look();
    for (const [ip, service] of this.#promised()) {
      if (!before.has(ip) || now.has(ip) || this.everRobbed.has(ip)) continue; // others may have it by now
      this.#options.report("address", `${write.who} ${write.method} ${lastName(write.path)}: ${service} lost ${ip}`);
    }
    if (write.method === "DELETE") this.#ofDeletion(write);
  }

  onOthersWrite({ touched }: ArmWrite): void {
    for (const { before, after } of touched) {
      if (before?.type !== LOAD_BALANCER || after === undefined) continue;
      const stood = new Map(partsOf(before, FRONTENDS).map((part) => [nameIn(part), publicIPOf(part)]));
      for (const part of partsOf(after, FRONTENDS))
        if (stood.get(nameIn(part)) !== publicIPOf(part))
          this.#movedByOthers.add(`${lastName(after.id)}/${FRONTENDS}/${nameIn(part)}`.toLowerCase());
    }
    this.onSettled();
  }

  /** What goes at the end of a deletion of ours was judged at its beginning. */
  onSettled(): void {
    const before = this.#served;
    const now = this.#look();
    for (const ip of before) {
      if (now.has(ip)) continue;
      this.#robbed.add(ip);
      this.everRobbed.add(ip);
    }
  }

  onRefused({ who, method, path }: ArmWrite): void {
    const { azure, report, putBack } = this.#options;
    const publicIP = azure.resources.get(path.toLowerCase());
    if (method !== "DELETE" || publicIP?.type !== PUBLIC_IP) return;
    const holder = frontendAt(azure, addressOf(publicIP));
    if (holder === undefined || isForeign(lastName(holder)) || baseIn(lastName(holder)) === undefined) return;
    const place = holder.slice(holder.indexOf("/loadBalancers/") + "/loadBalancers/".length);
    if (putBack.has(place) || this.#movedByOthers.has(place.toLowerCase())) return;
    report("order", `${who} would release ${lastName(path)} before its frontend ${lastName(holder)}`);
  }

  onChange({ collection, object, previous }: HistoryEntry): void {
    if (collection !== "services" || previous === undefined) return;
    const [was, is] = [ingressOf(previous), ingressOf(object)];
    if (is.join() === was.join()) return;
    this.#ofPromise(
      object,
      is.filter((ip) => !was.includes(ip)),
    );
    const { type } = object["spec"] as { type?: string };
    if (!this.#isStable(previous) || object.metadata.deletionTimestamp !== undefined || type !== "LoadBalancer") return;
    for (const ip of was) {
      if (is.includes(ip) || !this.#served.has(ip) || this.everRobbed.has(ip)) continue; // others may have it by now
      this.#options.report("address", `the status of ${nameOf(object)} changed from ${was.join()} to ${is.join()}`);
    }
  }

  #ofPromise(service: KubeObject, promised: readonly string[]): void {
    this.#look();
    for (const ip of promised) {
      if (ip === ADDITIONAL_IP || this.#served.has(ip) || this.#robbed.has(ip)) continue;
      this.#options.report("status", `${nameOf(service)} is said to be served at ${ip}, where nothing is`);
    }
  }

  /** What a deletion will take away. */
  #ofDeletion({ who, path }: ArmWrite): void {
    const { azure, report } = this.#options;
    const key = path.toLowerCase();
    const resource = azure.resources.get(key);
    if (resource === undefined) return;
    const held = (azure.outgoing.get(key) ?? []).flatMap(({ kind, to, address }) =>
      kind === "publicIp" ? addressesOf(azure, to) : kind === "address" ? [address ?? ""] : [],
    );
    const going = new Set(resource.type === PUBLIC_IP ? [addressOf(resource)] : held);
    for (const [ip, service] of this.#promised()) {
      if (going.has(ip) && !this.everRobbed.has(ip))
        report("address", `${who} DELETE ${lastName(path)} takes ${ip} from ${service}`);
    }
  }

  /** Looks at every address that is promised or was served. */
  #look(): ReadonlySet<string> {
    const { azure } = this.#options;
    const found = new Set<string>();
    for (const held of azure.addresses.values()) {
      for (const [ip, holder] of held) if (/\/frontendIPConfigurations\//i.test(holder)) found.add(ip);
    }
    for (const resource of azure.resources.values()) {
      if (resource.type === PUBLIC_IP && azure.incoming.has(resource.id.toLowerCase())) found.add(addressOf(resource));
    }
    for (const ip of found) this.#robbed.delete(ip);
    this.#served = found;
    return found;
  }

  /** Address and Service of those whose wish is applied. */
  *#promised(): Iterable<[string, string]> {
    for (const service of this.#options.services()) {
      if (!this.#isStable(service)) continue;
      for (const ip of ingressOf(service)) if (ip !== ADDITIONAL_IP) yield [ip, nameOf(service)];
    }
  }

  #isStable(service: KubeObject): boolean {
    const known = this.#stable.get(service) ?? this.#judgeStable(service);
    this.#stable.set(service, known);
    return known;
  }

  #judgeStable(service: KubeObject): boolean {
    const { metadata } = service;
    if (metadata.deletionTimestamp !== undefined || metadata.annotations?.["azlb.io/applied"] === undefined)
      return false;
    if (asksForNoRule(service) || asksForIPTags(service)) return false;
    return isApplied(projectService(service as unknown as StoredObject), this.#options.config);
  }
}

/** Whoever wants no rule at all holds nothing on a frontend that it shares. */
function asksForNoRule({ metadata, spec }: KubeObject): boolean {
  const { ports = [] } = spec as { ports?: { port: number }[] };
  const key = (port: number): string => `service.beta.kubernetes.io/port_${port}_no_lb_rule`;
  return ports.every(({ port }) => metadata.annotations?.[key(port)] === "true");
}

/** An address with other tags is replaced, be it later: the last frontend of a shared load balancer must wait for another. */
function asksForIPTags({ metadata }: KubeObject): boolean {
  return metadata.annotations?.["service.beta.kubernetes.io/azure-pip-ip-tags"] !== undefined;
}

const FRONTENDS = "frontendIPConfigurations";

function publicIPOf(frontend: Json): string | undefined {
  return (propertiesOf(frontend)["publicIPAddress"] as { id?: string } | undefined)?.id?.toLowerCase();
}

function addressesOf({ resources }: State, publicIP: string): string[] {
  const found = resources.get(publicIP);
  return found === undefined ? [] : [addressOf(found)];
}

function nameOf({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}
