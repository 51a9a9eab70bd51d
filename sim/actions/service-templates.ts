/**
 * What users ask for in a Service: annotations and spec, mostly sensible, now and then not. A shape is a whole wish:
 * applying it to a Service that is there replaces what that asked for.
 */
import type { Chance } from "../environment/random.ts";

export interface Shape {
  /** Without `service.beta.kubernetes.io/`. `$ip:namespace/name` is the address that a Service has at that moment. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Readonly<Record<string, unknown>>;
  /** Nothing that could be refused, and nothing that depends on others: it must be served. */
  readonly isPlain: boolean;
}

export const RIVAL_CLASS = "example.com/rival";
export const NOBODYS_CLASS = "example.com/nobody";
/** Public IPs that users made themselves, in the cluster's group. */
export const USERS_PUBLIC_IPS = ["mine-1", "mine-2"] as const;
export const OTHER_GROUP = "other";
/** Where load balancers are Basic, every other machine is in this availability set; the first is `agents`. */
export const SECOND_VM_SET = "others";
/** An address of a Service that is not this cluster's to serve. */
export const ADDITIONAL_IP = "7.7.7.7";

type Part = Readonly<Record<string, string>>;

/** Each may be refused where it doesn't fit the rest of the Service; that is part of the game. */
const PINS: readonly ((chance: Chance, services: readonly string[]) => Part)[] = [
  (chance) => ({ "azure-pip-name": chance.pick(USERS_PUBLIC_IPS) }),
  (chance, services) => ({ "azure-load-balancer-ipv4": `$ip:${chance.pick(services)}` }),
  (chance, services) => ({ "azure-load-balancer-ipv4": `$ip:${chance.pick(services)}` }),
  (chance) => ({ "azure-load-balancer-ipv4": `10.240.200.${4 + chance.below(3)}` }),
];

/** All of these may be asked for by anybody. */
const WISHES: readonly ((chance: Chance) => Part)[] = [
  (chance) => ({ "azure-load-balancer-tcp-idle-timeout": chance.pick(["4", "15", "30"]) }),
  () => ({ "azure-load-balancer-disable-tcp-reset": "true" }),
  () => ({ "azure-disable-load-balancer-floating-ip": "true" }),
  () => ({ "azure-shared-securityrule": "false" }),
  () => ({ "azure-disable-load-balancer-nsg-rule": "true" }),
  () => ({ "azure-allowed-service-tags": "AzureCloud" }),
  (chance) => ({ "azure-allowed-ip-ranges": chance.pick(["10.1.0.0/16", "10.1.0.0/16,10.2.0.0/16"]) }),
  () => ({ "azure-load-balancer-health-probe-protocol": "Http" }),
  (chance) => ({ "azure-load-balancer-health-probe-interval": chance.pick(["5", "10"]) }),
  () => ({ port_80_no_probe_rule: "true" }),
  () => ({ port_443_no_lb_rule: "true" }),
  () => ({ "port_80_health-probe_port": "8080" }),
  (chance) => ({ "azure-pip-tags": `team=${chance.pick(["red", "blue"])}` }),
  () => ({ "azure-additional-public-ips": ADDITIONAL_IP }),
];

/** These cost a Service its address, or bring it among others. */
const UPHEAVALS: readonly ((chance: Chance) => Part)[] = [
  (chance) => ({ "azure-dns-label-name": chance.pick(["one", "two"]) }),
  () => ({ "azure-load-balancer-resource-group": OTHER_GROUP }),
  (chance) => ({ "azure-pip-ip-tags": `RoutingPreference=${chance.pick(["Internet", "Microsoft"])}` }),
  () => ({ "azure-load-balancer-internal-subnet": "subnet2" }),
  () => ({ "azure-load-balancer-enable-high-availability-ports": "true" }),
  () => ({ "azure-deny-all-except-load-balancer-source-ranges": "true" }),
];

const MISTAKES: readonly Part[] = [
  { "azure-load-balancer-tcp-idle-timeout": "soon" },
  { "azure-load-balancer-health-probe-interval": "1" },
  { "azure-load-balancer-ipv4": "not-an-address" },
  { "azure-pip-name": "nobody-made-it" },
  { "azure-load-balancer-internal": "true", "azure-load-balancer-internal-subnet": "no-such-subnet" },
  { "azure-load-balancer-interal": "true" },
  { "azure-pls-create": "true" },
  { "azure-load-balancer-resource-group": "no-such-group" },
];

/** Which availability sets' load balancers may serve it: Basic has one for each. */
const MODES = ["__auto__", "__auto__", "agents", SECOND_VM_SET, `${SECOND_VM_SET},agents`] as const;

export interface Surroundings {
  readonly services: readonly string[];
  readonly hasRival: boolean;
  readonly hasIPv6: boolean;
  readonly isBasic: boolean;
}

export function drawShape(chance: Chance, { services, hasRival, hasIPv6, isBasic }: Surroundings): Shape {
  const isInternal = chance.isLucky(0.4);
  const isPinned = chance.isLucky(0.2);
  const isMistaken = chance.isLucky(0.07);
  const hasUpheaval = chance.isLucky(0.2);
  const annotations: Record<string, string> = isInternal ? { "azure-load-balancer-internal": "true" } : {};
  for (let wishes = chance.below(3); wishes > 0; wishes--) Object.assign(annotations, chance.pick(WISHES)(chance));
  if (hasUpheaval) Object.assign(annotations, chance.pick(UPHEAVALS)(chance));
  if (isPinned) Object.assign(annotations, chance.pick(PINS)(chance, services));
  if (isMistaken) Object.assign(annotations, chance.pick(MISTAKES));
  const isPlaced = isBasic && chance.isLucky(0.4);
  if (isPlaced) annotations["azure-load-balancer-mode"] = chance.pick(MODES);
  const loadBalancerClass = drawClass(chance, hasRival);
  const isPlain = !isPinned && !isMistaken && !isPlaced && !hasUpheaval && loadBalancerClass === undefined;
  return {
    annotations,
    spec: { ...drawSpec(chance, hasIPv6), ...(loadBalancerClass && { loadBalancerClass }) },
    isPlain,
  };
}

function drawClass(chance: Chance, hasRival: boolean): string | undefined {
  if (hasRival && chance.isLucky(0.4)) return RIVAL_CLASS;
  return chance.isLucky(0.04) ? NOBODYS_CLASS : undefined;
}

const PORTS = [80, 443, 53] as const;

function drawSpec(chance: Chance, hasIPv6: boolean): Record<string, unknown> {
  const isDual = hasIPv6 && chance.isLucky(0.15);
  const protocol = chance.isLucky(0.85) ? "TCP" : "UDP";
  const ports = PORTS.filter(() => chance.isLucky(0.45));
  const isOtherFamily = hasIPv6 && !isDual && chance.isLucky(0.08);
  return {
    type: "LoadBalancer",
    ports: (ports.length === 0 ? [80] : ports).map((port) => ({ port, protocol, name: `p${port}` })),
    externalTrafficPolicy: chance.isLucky(0.25) ? "Local" : "Cluster",
    sessionAffinity: chance.isLucky(0.15) ? "ClientIP" : "None",
    loadBalancerSourceRanges: chance.isLucky(0.15) ? ["10.0.0.0/8"] : null,
    ipFamilyPolicy: isDual ? "PreferDualStack" : "SingleStack",
    ...(isDual ? {} : { ipFamilies: [isOtherFamily ? "IPv6" : "IPv4"] }),
  };
}

/** For people: what is asked for, without what is usual. */
export function describeShape({ annotations, spec }: Shape): string {
  const { ports, ipFamilies, ...rest } = spec as { ports: { port: number; protocol: string }[]; ipFamilies?: string[] };
  const usual: Readonly<Record<string, unknown>> = {
    type: "LoadBalancer",
    externalTrafficPolicy: "Cluster",
    sessionAffinity: "None",
    loadBalancerSourceRanges: null,
    ipFamilyPolicy: "SingleStack",
  };
  const others = Object.entries(rest).filter(([key, value]) => value !== usual[key]);
  return [
    `ports=${ports.map(({ port, protocol }) => `${port}/${protocol}`).join()}`,
    ...(ipFamilies?.[0] === "IPv6" ? ["IPv6"] : []),
    ...[...others, ...Object.entries(annotations)].map(([key, value]) => `${key}=${String(value)}`),
  ].join(" ");
}
