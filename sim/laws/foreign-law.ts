/**
 * What other clients made stays as they made it: no write of the controllers changes or removes it. Their parts are known by
 * name; for each controller, the parts of Services of another class count as foreign, too.
 */
import type { Resource } from "../../sandbox/azure/model/index.ts";
import { propertiesOf, sameJson, without, type Json } from "../../sandbox/azure/model/json.ts";
import type { ArmWrite } from "../environment/simulated-azure.ts";
import {
  baseIn,
  isForeign,
  lastName,
  LOAD_BALANCER,
  nameOf,
  partsOf,
  PUBLIC_IP,
  SECURITY_GROUP,
} from "./azure-state.ts";
import type { Law, Report } from "./law.ts";

const PARTS = [
  "frontendIPConfigurations",
  "backendAddressPools",
  "loadBalancingRules",
  "probes",
  "inboundNatRules",
  "inboundNatPools",
  "outboundRules",
] as const;
/** The only property of the cluster's pools that the controllers write. */
const ENTRIES = "loadBalancerBackendAddresses";

export class ForeignLaw implements Law {
  readonly #report: Report;
  /** Whether a name belongs to a Service that the calling process does not serve. */
  readonly #isForeignService: (name: string, caller: string) => boolean;

  constructor(report: Report, isForeignService: (name: string, caller: string) => boolean) {
    this.#report = report;
    this.#isForeignService = isForeignService;
  }

  onOurWrite({ caller, method, touched }: ArmWrite): void {
    for (const { before, after } of touched) {
      if (before === undefined) continue;
      const left = method === "DELETE" && after?.state === "Deleting" && isWhole(before, touched) ? undefined : after;
      for (const what of this.#changes(before, left, caller)) {
        this.#report("foreign", `${caller} ${method} ${lastName(before.id)}: ${what}`);
      }
    }
  }

  #changes(before: Resource, after: Resource | undefined, caller: string): string[] {
    switch (before.type) {
      case LOAD_BALANCER:
        return this.#loadBalancerChanges(before, after, caller);
      case SECURITY_GROUP:
        return this.#partChanges(before, after, "securityRules", caller);
      case PUBLIC_IP:
        return isForeign(lastName(before.id)) ? publicIPChanges(before, after) : [];
      default:
        return [];
    }
  }

  #loadBalancerChanges(before: Resource, after: Resource | undefined, caller: string): string[] {
    const found = PARTS.flatMap((collection) => this.#partChanges(before, after, collection, caller));
    if (after === undefined) return found;
    const own = new Set<string>(PARTS);
    if (!sameJson(without(propertiesOf(before.body), own), without(propertiesOf(after.body), own)))
      found.push("its own properties changed");
    if (!sameJson(without(before.body, PROPERTIES), without(after.body, PROPERTIES))) found.push("its tags changed");
    return [...found, ...poolChanges(before, after)];
  }

  #partChanges(before: Resource, after: Resource | undefined, collection: string, caller: string): string[] {
    const later = new Map(after === undefined ? [] : partsOf(after, collection).map((part) => [nameOf(part), part]));
    return partsOf(before, collection).flatMap((part) => {
      const name = nameOf(part);
      if (!isForeign(name) && !(this.#isForeignService(name, caller) && isUsedByOwner(before, name))) return [];
      const now = later.get(name);
      if (now === undefined) return [`${collection}/${name} is gone`];
      return sameJson(part, now) ? [] : [`${collection}/${name} changed`];
    });
  }
}

/** A frontend that its own Service no longer uses belongs to the Services that share it. */
function isUsedByOwner(resource: Resource, name: string): boolean {
  const base = baseIn(name);
  return (
    resource.type !== LOAD_BALANCER ||
    partsOf(resource, "loadBalancingRules").some((rule) => baseIn(nameOf(rule)) === base)
  );
}

const PROPERTIES = new Set(["properties"]);

function isWhole(resource: Resource, touched: ArmWrite["touched"]): boolean {
  return touched.some(({ after }) => after?.id === resource.id);
}

/** Entries of other clients in the cluster's pools. */
function poolChanges(before: Resource, after: Resource): string[] {
  const later = new Map(partsOf(after, "backendAddressPools").map((pool) => [nameOf(pool), pool]));
  return partsOf(before, "backendAddressPools").flatMap((pool) => {
    const now = later.get(nameOf(pool));
    const foreign = partsOf({ body: pool }, ENTRIES).filter((entry) => isForeign(nameOf(entry)));
    if (now === undefined) return foreign.map((entry) => `entry ${nameOf(entry)} went with its pool`);
    const entries = new Map(partsOf({ body: now }, ENTRIES).map((entry) => [nameOf(entry), entry]));
    return foreign.flatMap((entry) => {
      const name = nameOf(entry);
      if (!entries.has(name)) return [`entry ${name} of pool ${nameOf(pool)} is gone`];
      return sameJson(withAdminState(entry), withAdminState(entries.get(name) ?? {}))
        ? []
        : [`entry ${name} of pool ${nameOf(pool)} changed`];
    });
  });
}

/** A missing admin state means None. */
function withAdminState(entry: Json): Json {
  return { ...entry, properties: { adminState: "None", ...propertiesOf(entry) } };
}

/** A user's public IP may get the DNS label that a Service asks for. Everything else of it stays. */
function publicIPChanges(before: Resource, after: Resource | undefined): string[] {
  if (after === undefined) return ["a foreign public IP was deleted"];
  const own = new Set(["dnsSettings"]);
  const rest = (resource: Resource): unknown => [
    without(resource.body, PROPERTIES),
    without(propertiesOf(resource.body), own),
    resource.assigned,
  ];
  return sameJson(rest(before), rest(after)) ? [] : ["a foreign public IP changed"];
}
