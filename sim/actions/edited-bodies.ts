/**
 * What an external edit makes of the resource that it has read, as pure functions: parts of load balancers, entries of
 * pools, rules of security groups. `undefined`: there is nothing to change. When and how it is written is
 * `external-edits.ts`.
 */
import { objectsOf, propertiesOf, type Json } from "../../sandbox/azure/model/json.ts";
import type { Sku } from "../../sandbox/azure/seed/topology.ts";

/** Names of everything that other clients make; the controller makes no such name. */
export const FOREIGN_NAME = /^(hand|foreign|mine)-/;
const OUR_NAME = /^a[0-9a-f]{31}/;

export function pickFrom<T>(items: readonly T[], which: number): T | undefined {
  return items[which % Math.max(1, items.length)];
}

function withProperties(body: Json, more: Json): Json {
  return { ...body, properties: { ...propertiesOf(body), ...more } };
}

function itemsOf(body: Json, collection: string): readonly Json[] {
  return objectsOf(propertiesOf(body)[collection]);
}

function nameOf(part: Json): string {
  return String(part["name"]);
}

export function tagged(body: Json, which: number): Json {
  return { ...body, tags: { ...(body["tags"] as Json), [`hand-tag-${which % 3}`]: String(which) } };
}

interface EditedLoadBalancer {
  readonly path: string;
  readonly publicIP: string | undefined;
  readonly network: string;
  readonly sku: Sku;
}

/** Adds a frontend, pool, probe and rule of the other client to the cluster's load balancer. */
export function withParts(body: Json, which: number, { path, publicIP, network, sku }: EditedLoadBalancer): Json {
  const name = `hand-${which % 3}`;
  const without = (collection: string): Json[] => itemsOf(body, collection).filter((part) => nameOf(part) !== name);
  const own = (collection: string) => ({ id: `${path}/${collection}/${name}` });
  const place =
    publicIP === undefined
      ? { subnet: { id: `${network}/virtualNetworks/vnet/subnets/subnet2` }, privateIPAllocationMethod: "Dynamic" }
      : { publicIPAddress: { id: publicIP } };
  const port = 7_000 + (which % 3);
  return withProperties(body, {
    frontendIPConfigurations: [...without("frontendIPConfigurations"), { name, properties: place }],
    backendAddressPools: [...without("backendAddressPools"), { name, properties: {} }],
    probes: [...without("probes"), { name, properties: { protocol: "Tcp", port, intervalInSeconds: 15 } }],
    loadBalancingRules: [
      ...without("loadBalancingRules"),
      {
        name,
        properties: {
          frontendIPConfiguration: own("frontendIPConfigurations"),
          backendAddressPool: own("backendAddressPools"),
          probe: own("probes"),
          protocol: "Tcp",
          frontendPort: port,
          backendPort: port,
          ...(sku === "standard" && { disableOutboundSnat: true }),
        },
      },
    ],
  });
}

type BodyChange = (body: Json, which: number) => Json | undefined;

function mapped(body: Json, collection: string, pattern: RegExp, change: (part: Json) => Json): Json {
  const parts = itemsOf(body, collection).map((part) => (pattern.test(nameOf(part)) ? change(part) : part));
  return withProperties(body, { [collection]: parts });
}

function dropped(body: Json, collection: string, isGone: (part: Json) => boolean): Json {
  return withProperties(body, { [collection]: itemsOf(body, collection).filter((part) => !isGone(part)) });
}

function isUnder(part: Json, reference: string, name: string): boolean {
  const { id = "" } = (propertiesOf(part)[reference] ?? {}) as { id?: string };
  return id.toLowerCase().endsWith(`/${name.toLowerCase()}`);
}

export const LOAD_BALANCER_CHANGES: Readonly<
  Record<"changeParts" | "dropParts" | "tag" | "retimeRules" | "dropRules" | "dropFrontend" | "outbound", BodyChange>
> = {
  changeParts: (body, which) =>
    mapped(
      mapped(body, "loadBalancingRules", /^hand-/, (rule) =>
        withProperties(rule, { idleTimeoutInMinutes: 4 + (which % 20) }),
      ),
      "frontendIPConfigurations",
      /^(hand|foreign)-/,
      (frontend) => withProperties(frontend, { enableConnectionTracking: which % 2 === 0 }),
    ),
  dropParts: (body, which) => {
    const name = `hand-${which % 3}`;
    const isGone = (part: Json): boolean => nameOf(part) === name;
    const collections = ["loadBalancingRules", "probes", "backendAddressPools", "frontendIPConfigurations"];
    return collections.reduce((rest, collection) => dropped(rest, collection, isGone), body);
  },
  tag: tagged,
  retimeRules: (body, which) =>
    mapped(body, "loadBalancingRules", OUR_NAME, (rule) =>
      withProperties(rule, { idleTimeoutInMinutes: 5 + (which % 20) }),
    ),
  dropRules: (body, which) =>
    dropped(
      body,
      "loadBalancingRules",
      (rule) => OUR_NAME.test(nameOf(rule)) && (which + nameOf(rule).length) % 2 === 0,
    ),
  dropFrontend: (body, which) => {
    const ours = itemsOf(body, "frontendIPConfigurations").filter((part) => OUR_NAME.test(nameOf(part)));
    const frontend = pickFrom(ours, which);
    if (frontend === undefined || itemsOf(body, "frontendIPConfigurations").length < 2) return undefined;
    const withoutRules = dropped(body, "loadBalancingRules", (rule) =>
      isUnder(rule, "frontendIPConfiguration", nameOf(frontend)),
    );
    return dropped(
      withoutRules,
      "frontendIPConfigurations",
      (part) => part === frontend || nameOf(part) === nameOf(frontend),
    );
  },
  outbound: (body, which) => {
    const frontend = pickFrom(
      itemsOf(body, "frontendIPConfigurations").filter((part) => OUR_NAME.test(nameOf(part))),
      which,
    );
    const pool = itemsOf(body, "backendAddressPools").find((part) => !FOREIGN_NAME.test(nameOf(part)));
    if (which % 3 === 0) return dropped(body, "outboundRules", (rule) => nameOf(rule) === "hand-out");
    if (frontend === undefined || pool === undefined) return undefined;
    const rule = {
      name: "hand-out",
      properties: {
        frontendIPConfigurations: [{ id: frontend["id"] }],
        backendAddressPool: { id: pool["id"] },
        protocol: "All",
        allocatedOutboundPorts: 1024,
      },
    };
    const others = itemsOf(body, "outboundRules").filter((part) => nameOf(part) !== "hand-out");
    return withProperties(body, { outboundRules: [...others, rule] });
  },
};

export const POOL_CHANGES: Readonly<Record<"addEntry" | "dropEntry" | "dropNode" | "setState", BodyChange>> = {
  addEntry: (pool, which) => {
    const name = `hand-server-${which % 4}`;
    const entry = { name, properties: { ipAddress: `10.240.210.${10 + (which % 4)}` } };
    const entries = itemsOf(pool, "loadBalancerBackendAddresses").filter((one) => nameOf(one) !== name);
    return withProperties(pool, { loadBalancerBackendAddresses: [...entries, entry] });
  },
  dropEntry: (pool, which) =>
    dropped(pool, "loadBalancerBackendAddresses", (entry) => nameOf(entry) === `hand-server-${which % 4}`),
  dropNode: (pool, which) => {
    const nodes = itemsOf(pool, "loadBalancerBackendAddresses").filter((entry) => !FOREIGN_NAME.test(nameOf(entry)));
    const gone = pickFrom(nodes, which);
    return gone === undefined
      ? undefined
      : dropped(pool, "loadBalancerBackendAddresses", (entry) => nameOf(entry) === nameOf(gone));
  },
  setState: (pool, which) => {
    const entry = pickFrom(itemsOf(pool, "loadBalancerBackendAddresses"), which);
    if (entry === undefined) return undefined;
    const adminState = which % 2 === 0 ? "Down" : "None";
    return withProperties(pool, {
      loadBalancerBackendAddresses: itemsOf(pool, "loadBalancerBackendAddresses").map((one) =>
        nameOf(one) === nameOf(entry) ? withProperties(one, { adminState }) : one,
      ),
    });
  },
};

export const SECURITY_GROUP_CHANGES: Readonly<
  Record<"addAccess" | "changeAccess" | "dropAccess" | "dropOurAccess", BodyChange>
> = {
  addAccess: (group, which) => {
    const name = `hand-access-${which % 3}`;
    const rule = {
      name,
      properties: {
        access: "Allow",
        direction: "Inbound",
        priority: [101, 502, 4_000][which % 3],
        protocol: "Tcp",
        sourceAddressPrefix: "1.2.3.4/32",
        sourcePortRange: "*",
        destinationAddressPrefix: "*",
        destinationPortRange: "22",
      },
    };
    const others = itemsOf(group, "securityRules").filter((one) => nameOf(one) !== name);
    return withProperties(group, { securityRules: [...others, rule] });
  },
  changeAccess: (group, which) =>
    mapped(group, "securityRules", /^hand-/, (rule) => withProperties(rule, { description: `note ${which}` })),
  dropAccess: (group, which) => dropped(group, "securityRules", (rule) => nameOf(rule) === `hand-access-${which % 3}`),
  dropOurAccess: (group, which) => {
    const ours = itemsOf(group, "securityRules").filter((rule) => nameOf(rule).startsWith("k8s-azure-lb"));
    const gone = pickFrom(ours, which);
    return gone === undefined ? undefined : dropped(group, "securityRules", (rule) => nameOf(rule) === nameOf(gone));
  },
};
