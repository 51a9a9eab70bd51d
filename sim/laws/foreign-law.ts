/**
 * What others made stays as they made it: no write of ours changes a byte of it, or takes it away. Names tell what is
 * others'; in addition, the parts of Services of another class are others' to a controller.
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
/** Of one of our pools, what we write; everything else of it is as others left it. */
const ENTRIES = "loadBalancerBackendAddresses";

export class ForeignLaw implements Law {
  readonly #report: Report;
  /** Whether a name is of a Service that this process does not serve. */
  readonly #isOthers: (name: string, who: string) => boolean;

  constructor(report: Report, isOthers: (name: string, who: string) => boolean) {
    this.#report = report;
    this.#isOthers = isOthers;
  }

  onOurWrite({ who, method, touched }: ArmWrite): void {
    for (const { before, after } of touched) {
      if (before === undefined) continue;
      const left = method === "DELETE" && after?.state === "Deleting" && isWhole(before, touched) ? undefined : after;
      for (const what of this.#changes(before, left, who)) {
        this.#report("foreign", `${who} ${method} ${lastName(before.id)}: ${what}`);
      }
    }
  }

  #changes(before: Resource, after: Resource | undefined, who: string): string[] {
    switch (before.type) {
      case LOAD_BALANCER:
        return this.#ofLoadBalancer(before, after, who);
      case SECURITY_GROUP:
        return this.#ofParts(before, after, "securityRules", who);
      case PUBLIC_IP:
        return isForeign(lastName(before.id)) ? ofPublicIP(before, after) : [];
      default:
        return [];
    }
  }

  #ofLoadBalancer(before: Resource, after: Resource | undefined, who: string): string[] {
    const found = PARTS.flatMap((collection) => this.#ofParts(before, after, collection, who));
    if (after === undefined) return found;
    const own = new Set<string>(PARTS);
    if (!sameJson(without(propertiesOf(before.body), own), without(propertiesOf(after.body), own)))
      found.push("its own properties changed");
    if (!sameJson(without(before.body, PROPERTIES), without(after.body, PROPERTIES))) found.push("its tags changed");
    return [...found, ...ofPools(before, after)];
  }

  #ofParts(before: Resource, after: Resource | undefined, collection: string, who: string): string[] {
    const later = new Map(after === undefined ? [] : partsOf(after, collection).map((part) => [nameOf(part), part]));
    return partsOf(before, collection).flatMap((part) => {
      const name = nameOf(part);
      if (!isForeign(name) && !(this.#isOthers(name, who) && isOwnersToo(before, name))) return [];
      const now = later.get(name);
      if (now === undefined) return [`${collection}/${name} is gone`];
      return sameJson(part, now) ? [] : [`${collection}/${name} changed`];
    });
  }
}

/** A frontend that its Service has left stands for those who share it, and goes with them. */
function isOwnersToo(resource: Resource, name: string): boolean {
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

/** Others' entries in our pools, and others' settings of them. */
function ofPools(before: Resource, after: Resource): string[] {
  const later = new Map(partsOf(after, "backendAddressPools").map((pool) => [nameOf(pool), pool]));
  return partsOf(before, "backendAddressPools").flatMap((pool) => {
    const now = later.get(nameOf(pool));
    const foreign = partsOf({ body: pool }, ENTRIES).filter((entry) => isForeign(nameOf(entry)));
    if (now === undefined) return foreign.map((entry) => `entry ${nameOf(entry)} went with its pool`);
    const entries = new Map(partsOf({ body: now }, ENTRIES).map((entry) => [nameOf(entry), entry]));
    return foreign.flatMap((entry) => {
      const name = nameOf(entry);
      if (!entries.has(name)) return [`entry ${name} of pool ${nameOf(pool)} is gone`];
      return sameJson(stated(entry), stated(entries.get(name) ?? {}))
        ? []
        : [`entry ${name} of pool ${nameOf(pool)} changed`];
    });
  });
}

/** No admin state means None. */
function stated(entry: Json): Json {
  return { ...entry, properties: { adminState: "None", ...propertiesOf(entry) } };
}

/** A user's public IP may get a DNS label, as its Service asks. It keeps its address, and it stays. */
function ofPublicIP(before: Resource, after: Resource | undefined): string[] {
  if (after === undefined) return ["a public IP of others was deleted"];
  const own = new Set(["dnsSettings"]);
  const rest = (resource: Resource): unknown => [
    without(resource.body, PROPERTIES),
    without(propertiesOf(resource.body), own),
    resource.assigned,
  ];
  return sameJson(rest(before), rest(after)) ? [] : ["a public IP of others changed"];
}
