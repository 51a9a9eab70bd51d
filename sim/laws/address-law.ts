/**
 * A served Service that has not changed keeps its address: no write of the controllers takes away its frontend or public IP,
 * and its status keeps the address. What another client takes away is not judged.
 *
 * Also: an address in a status exists in Azure when it is published, and a public IP is not deleted while a frontend of
 * the controller refers to it.
 */
import type { HistoryEntry, KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import type { State } from "../../sandbox/azure/model/index.ts";
import { propertiesOf, type Json } from "../../sandbox/azure/model/json.ts";
import { projectService } from "../../src/controller/projections.ts";
import type { ClusterConfig } from "../../src/core/config/cluster-config.ts";
import { isApplied } from "../../src/core/service/applied-state.ts";
import { storedObject } from "../environment/simulated-kubernetes.ts";
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
  /** `load balancer/collection/part`: what other clients have put back. */
  readonly putBack: ReadonlySet<string>;
}

export class AddressLaw implements Law {
  readonly #options: AddressLawOptions;
  /** Addresses that have a frontend, as of the last write. */
  #served = new Set<string>();
  /** Addresses whose frontend another client has removed, and that have none since. */
  readonly #takenByOthers = new Set<string>();
  /** Addresses whose frontend another client has ever removed: their owner may be unknown since. */
  readonly everTakenByOthers = new Set<string>();

  /** `load balancer/collection/part`: frontends that another client has moved to another public IP. */
  readonly #movedByOthers = new Set<string>();

  /** Cached by object: stored objects are immutable. */
  readonly #stable = new WeakMap<KubeObject, boolean>();

  constructor(options: AddressLawOptions) {
    this.#options = options;
  }

  onOurWrite(write: ArmWrite): void {
    const before = this.#served;
    const now = this.#updateServed();
    for (const [ip, service] of this.#publishedAddresses()) {
      if (!before.has(ip) || now.has(ip) || this.everTakenByOthers.has(ip)) continue; // another Service may have it by now
      this.#options.report("address", `${write.caller} ${write.method} ${lastName(write.path)}: ${service} lost ${ip}`);
    }
    if (write.method === "DELETE") this.#checkDeletion(write);
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

  /** What disappears at the end of a deletion by a controller was judged when it began. */
  onSettled(): void {
    const before = this.#served;
    const now = this.#updateServed();
    for (const ip of before) {
      if (now.has(ip)) continue;
      this.#takenByOthers.add(ip);
      this.everTakenByOthers.add(ip);
    }
  }

  onRefused({ caller, method, path }: ArmWrite): void {
    const { azure, report, putBack } = this.#options;
    const publicIP = azure.resources.get(path.toLowerCase());
    if (method !== "DELETE" || publicIP?.type !== PUBLIC_IP) return;
    const holder = frontendAt(azure, addressOf(publicIP));
    if (holder === undefined || isForeign(lastName(holder)) || baseIn(lastName(holder)) === undefined) return;
    const place = holder.slice(holder.indexOf("/loadBalancers/") + "/loadBalancers/".length);
    if (putBack.has(place) || this.#movedByOthers.has(place.toLowerCase())) return;
    report("order", `${caller} would release ${lastName(path)} before its frontend ${lastName(holder)}`);
  }

  onChange({ collection, object, previous }: HistoryEntry): void {
    if (collection !== "services" || previous === undefined) return;
    const [was, is] = [ingressOf(previous), ingressOf(object)];
    if (is.join() === was.join()) return;
    this.#checkPublished(
      object,
      is.filter((ip) => !was.includes(ip)),
    );
    const { type } = object["spec"] as { type?: string };
    if (!this.#isStable(previous) || object.metadata.deletionTimestamp !== undefined || type !== "LoadBalancer") return;
    for (const ip of was) {
      if (is.includes(ip) || !this.#served.has(ip) || this.everTakenByOthers.has(ip)) continue; // another Service may have it by now
      this.#options.report("address", `the status of ${nameOf(object)} changed from ${was.join()} to ${is.join()}`);
    }
  }

  #checkPublished(service: KubeObject, addresses: readonly string[]): void {
    this.#updateServed();
    for (const ip of addresses) {
      if (ip === ADDITIONAL_IP || this.#served.has(ip) || this.#takenByOthers.has(ip)) continue;
      this.#options.report("status", `${nameOf(service)} has ${ip} in its status, where no frontend is`);
    }
  }

  /** Judges what a deletion will take away. */
  #checkDeletion({ caller, path }: ArmWrite): void {
    const { azure, report } = this.#options;
    const key = path.toLowerCase();
    const resource = azure.resources.get(key);
    if (resource === undefined) return;
    const held = (azure.outgoing.get(key) ?? []).flatMap(({ kind, to, address }) =>
      kind === "publicIp" ? addressesOf(azure, to) : kind === "address" ? [address ?? ""] : [],
    );
    const going = new Set(resource.type === PUBLIC_IP ? [addressOf(resource)] : held);
    for (const [ip, service] of this.#publishedAddresses()) {
      if (going.has(ip) && !this.everTakenByOthers.has(ip))
        report("address", `${caller} DELETE ${lastName(path)} takes ${ip} from ${service}`);
    }
  }

  /** Updates `#served` from the state of Azure. */
  #updateServed(): ReadonlySet<string> {
    const { azure } = this.#options;
    const found = new Set<string>();
    for (const held of azure.addresses.values()) {
      for (const [ip, holder] of held) if (/\/frontendIPConfigurations\//i.test(holder)) found.add(ip);
    }
    for (const resource of azure.resources.values()) {
      if (resource.type === PUBLIC_IP && azure.incoming.has(resource.id.toLowerCase())) found.add(addressOf(resource));
    }
    for (const ip of found) this.#takenByOthers.delete(ip);
    this.#served = found;
    return found;
  }

  /** Addresses in the status of Services that are fully applied, and the name of the Service. */
  *#publishedAddresses(): Iterable<[string, string]> {
    for (const service of this.#options.services()) {
      if (!this.#isStable(service)) continue;
      for (const ip of ingressOf(service)) if (ip !== ADDITIONAL_IP) yield [ip, nameOf(service)];
    }
  }

  #isStable(service: KubeObject): boolean {
    const known = this.#stable.get(service) ?? this.#computeStable(service);
    this.#stable.set(service, known);
    return known;
  }

  #computeStable(service: KubeObject): boolean {
    const { metadata } = service;
    if (metadata.deletionTimestamp !== undefined || metadata.annotations?.["azlb.io/applied"] === undefined)
      return false;
    if (asksForIPTags(service)) return false;
    return isApplied(projectService(storedObject(service)), this.#options.config);
  }
}

/** Other IP tags replace the address, sometimes later: the last frontend of a shared load balancer is replaced once there is another. */
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
