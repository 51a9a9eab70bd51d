/**
 * What users ask for in a Service: annotations and spec, mostly valid, now and then not. A template is complete: applying
 * it to an existing Service replaces what the Service asked for before.
 */
import type { Random } from "../environment/random.ts";
import { SECOND_LOAD_BALANCER, TEAM_LOAD_BALANCER } from "../environment/several-load-balancers.ts";

export interface ServiceTemplate {
  /** Keys without `service.beta.kubernetes.io/`. The value `$ip:namespace/name` is the current address of that Service. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Readonly<Record<string, unknown>>;
  /** Has nothing that could be refused or that depends on other Services: it must be served. */
  readonly isPlain: boolean;
}

export const RIVAL_CLASS = "example.com/rival";
const UNSERVED_CLASS = "example.com/nobody";
/** Public IPs that users created, in the cluster's resource group. */
export const USERS_PUBLIC_IPS = ["mine-1", "mine-2"] as const;
export const OTHER_GROUP = "other";
/** With Basic load balancers, every other machine is in this availability set; the rest are in `agents`. */
export const SECOND_VM_SET = "others";
/** An address that no load balancer of this cluster serves, such as that of a global load balancer. */
export const ADDITIONAL_IP = "7.7.7.7";

type Part = Readonly<Record<string, string>>;

/** Each may be refused if it conflicts with the rest of the Service. */
const PINS: readonly ((random: Random, services: readonly string[]) => Part)[] = [
  (random) => ({ "azure-pip-name": random.pick(USERS_PUBLIC_IPS) }),
  (random, services) => ({ "azure-load-balancer-ipv4": `$ip:${random.pick(services)}` }),
  (random, services) => ({ "azure-load-balancer-ipv4": `$ip:${random.pick(services)}` }),
  (random) => ({ "azure-load-balancer-ipv4": `10.240.200.${4 + random.below(3)}` }),
];

/** Valid on any Service. */
const OPTIONS: readonly ((random: Random) => Part)[] = [
  (random) => ({ "azure-load-balancer-tcp-idle-timeout": random.pick(["4", "15", "30"]) }),
  () => ({ "azure-load-balancer-disable-tcp-reset": "true" }),
  () => ({ "azure-disable-load-balancer-floating-ip": "true" }),
  () => ({ "azure-shared-securityrule": "false" }),
  () => ({ "azure-disable-load-balancer-nsg-rule": "true" }),
  () => ({ "azure-allowed-service-tags": "AzureCloud" }),
  (random) => ({ "azure-allowed-ip-ranges": random.pick(["10.1.0.0/16", "10.1.0.0/16,10.2.0.0/16"]) }),
  () => ({ "azure-load-balancer-health-probe-protocol": "Http" }),
  (random) => ({ "azure-load-balancer-health-probe-interval": random.pick(["5", "10"]) }),
  () => ({ port_80_no_probe_rule: "true" }),
  () => ({ port_443_no_lb_rule: "true" }),
  () => ({ "port_80_health-probe_port": "8080" }),
  (random) => ({ "azure-pip-tags": `team=${random.pick(["red", "blue"])}` }),
  () => ({ "azure-additional-public-ips": ADDITIONAL_IP }),
];

/** Valid, but they may change the address of the Service or conflict with others. */
const DISRUPTIVE: readonly ((random: Random) => Part)[] = [
  (random) => ({ "azure-dns-label-name": random.pick(["one", "two"]) }),
  () => ({ "azure-load-balancer-resource-group": OTHER_GROUP }),
  (random) => ({ "azure-pip-ip-tags": `RoutingPreference=${random.pick(["Internet", "Microsoft"])}` }),
  () => ({ "azure-load-balancer-internal-subnet": "subnet2" }),
  () => ({ "azure-load-balancer-enable-high-availability-ports": "true" }),
  () => ({ "azure-deny-all-except-load-balancer-source-ranges": "true" }),
];

const LINK = { "azure-pls-create": "true" };
const LINK_DETAILS: readonly Part[] = [
  {},
  {},
  { "azure-pls-name": "link" },
  { "azure-pls-fqdns": "a.example.com" },
  { "azure-pls-ip-configuration-subnet": "subnet2", "azure-pls-ip-configuration-ip-address-count": "3" },
  { "azure-pls-create": "false" },
];

const INVALID: readonly Part[] = [
  { "azure-load-balancer-tcp-idle-timeout": "soon" },
  { "azure-load-balancer-health-probe-interval": "1" },
  { "azure-load-balancer-ipv4": "not-an-address" },
  { "azure-pip-name": "nobody-made-it" },
  { "azure-load-balancer-internal": "true", "azure-load-balancer-internal-subnet": "no-such-subnet" },
  { "azure-load-balancer-interal": "true" },
  { "azure-pls-create": "true", "azure-pls-ip-configuration-ip-address-count": "9" },
  { "azure-load-balancer-resource-group": "no-such-group" },
];

/** Values of `azure-load-balancer-mode`: the availability sets whose Basic load balancer may serve it. */
const MODES = ["__auto__", "__auto__", "agents", SECOND_VM_SET, `${SECOND_VM_SET},agents`] as const;

/** Values of `azure-load-balancer-configurations`: the load balancers of the list that may serve it. */
const CONFIGURATIONS = ["kubernetes", SECOND_LOAD_BALANCER, "second,kubernetes", TEAM_LOAD_BALANCER, "nobody"] as const;

export interface TemplateOptions {
  readonly services: readonly string[];
  readonly hasRival: boolean;
  readonly hasIPv6: boolean;
  /** Private link services need pools of network interfaces. */
  readonly hasLinks: boolean;
  readonly isBasic: boolean;
  /** There is a list of load balancers. */
  readonly hasList: boolean;
}

export function drawServiceTemplate(
  random: Random,
  { services, hasRival, hasIPv6, hasLinks, isBasic, hasList }: TemplateOptions,
): ServiceTemplate {
  const isInternal = random.bool(0.4);
  const isPinned = random.bool(0.2);
  const isInvalid = random.bool(0.07);
  const isDisruptive = random.bool(0.2);
  const annotations: Record<string, string> = isInternal ? { "azure-load-balancer-internal": "true" } : {};
  for (let options = random.below(3); options > 0; options--) Object.assign(annotations, random.pick(OPTIONS)(random));
  if (isDisruptive) Object.assign(annotations, random.pick(DISRUPTIVE)(random));
  const isLinked = hasLinks && isInternal && random.bool(0.4);
  if (isLinked) Object.assign(annotations, LINK, random.pick(LINK_DETAILS));
  if (isPinned) Object.assign(annotations, random.pick(PINS)(random, services));
  if (isInvalid) Object.assign(annotations, random.pick(INVALID));
  const isPlaced = (isBasic || hasList) && random.bool(0.4);
  if (isPlaced && isBasic) annotations["azure-load-balancer-mode"] = random.pick(MODES);
  if (isPlaced && hasList) annotations["azure-load-balancer-configurations"] = random.pick(CONFIGURATIONS);
  const loadBalancerClass = drawClass(random, hasRival);
  const isPlain = !isLinked && !isPinned && !isInvalid && !isPlaced && !isDisruptive && loadBalancerClass === undefined;
  return {
    annotations,
    spec: { ...drawSpec(random, hasIPv6), ...(loadBalancerClass && { loadBalancerClass }) },
    isPlain,
  };
}

function drawClass(random: Random, hasRival: boolean): string | undefined {
  if (hasRival && random.bool(0.4)) return RIVAL_CLASS;
  return random.bool(0.04) ? UNSERVED_CLASS : undefined;
}

const PORTS = [80, 443, 53] as const;

function drawSpec(random: Random, hasIPv6: boolean): Record<string, unknown> {
  const isDual = hasIPv6 && random.bool(0.15);
  const protocol = random.bool(0.85) ? "TCP" : "UDP";
  const ports = PORTS.filter(() => random.bool(0.45));
  const isOtherFamily = hasIPv6 && !isDual && random.bool(0.08);
  return {
    type: "LoadBalancer",
    ports: (ports.length === 0 ? [80] : ports).map((port) => ({ port, protocol, name: `p${port}` })),
    externalTrafficPolicy: random.bool(0.25) ? "Local" : "Cluster",
    sessionAffinity: random.bool(0.15) ? "ClientIP" : "None",
    loadBalancerSourceRanges: random.bool(0.15) ? ["10.0.0.0/8"] : null,
    ipFamilyPolicy: isDual ? "PreferDualStack" : "SingleStack",
    ...(isDual ? {} : { ipFamilies: [isOtherFamily ? "IPv6" : "IPv4"] }),
  };
}

/** As text, without the defaults. */
export function describeTemplate({ annotations, spec }: ServiceTemplate): string {
  const { ports, ipFamilies, ...rest } = spec as { ports: { port: number; protocol: string }[]; ipFamilies?: string[] };
  const defaults: Readonly<Record<string, unknown>> = {
    type: "LoadBalancer",
    externalTrafficPolicy: "Cluster",
    sessionAffinity: "None",
    loadBalancerSourceRanges: null,
    ipFamilyPolicy: "SingleStack",
  };
  const others = Object.entries(rest).filter(([key, value]) => value !== defaults[key]);
  return [
    `ports=${ports.map(({ port, protocol }) => `${port}/${protocol}`).join()}`,
    ...(ipFamilies?.[0] === "IPv6" ? ["IPv6"] : []),
    ...[...others, ...Object.entries(annotations)].map(([key, value]) => `${key}=${String(value)}`),
  ].join(" ");
}
