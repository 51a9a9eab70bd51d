/**
 * People and other tools who edit Azure by hand: they read, think, and write what they read with their change. Careful
 * ones write under the ETag of what they read and start over once when that has changed; the others write over whatever
 * came meanwhile. What they make themselves is called `hand-…`; what they do to the controller's parts is drift.
 */
import { objectsOf, propertiesOf, type Json } from "../../sandbox/azure/model/json.ts";
import type { Sku } from "../../sandbox/azure/seed/topology.ts";
import type { AzureSide } from "../environment/simulated-azure.ts";
import { publicIPOf } from "../environment/azure-seed.ts";
import type { Timeline } from "../environment/timeline.ts";

export const MEDDLINGS = [
  "addParts",
  "addParts",
  "changeParts",
  "dropParts",
  "tag",
  "retimeRules",
  "dropRules",
  "dropFrontend",
  "outbound",
  "addEntry",
  "addEntry",
  "dropEntry",
  "dropNode",
  "setState",
  "addAccess",
  "changeAccess",
  "dropAccess",
  "dropOurAccess",
  "tagPublicIP",
  "deleteLoadBalancer",
] as const;

export interface Meddling {
  readonly who: "person" | "tool";
  readonly how: (typeof MEDDLINGS)[number];
  /** Which of those that there are; taken modulo their number. */
  readonly which: number;
  /** Writes under the ETag of what was read. */
  readonly isCareful: boolean;
  readonly thinksMs: number;
}

/** What others make is called so, and by no other name. */
export const FOREIGN_NAME = /^(hand|foreign|mine)-/;
const OUR_NAME = /^a[0-9a-f]{31}/;
const API_VERSION = { "api-version": "2026-01-01" };

interface Edit {
  readonly path: string;
  /** `undefined`: there is nothing to do. */
  readonly change: (body: Json) => Json | undefined;
}

export interface MeddlersOptions {
  readonly azure: AzureSide;
  readonly timeline: Timeline;
  /** Path of the cluster's network resources. */
  readonly network: string;
  /** Of the cluster's load balancers. */
  readonly sku: Sku;
}

export class Meddlers {
  readonly #azure: AzureSide;
  readonly #timeline: Timeline;
  readonly #network: string;
  readonly #sku: Sku;

  constructor({ azure, timeline, network, sku }: MeddlersOptions) {
    this.#azure = azure;
    this.#timeline = timeline;
    this.#network = network;
    this.#sku = sku;
  }

  meddle(meddling: Meddling): void {
    const edit = this.#editOf(meddling);
    if (edit !== undefined) this.#perform(edit, meddling, 1);
  }

  #perform(edit: Edit, meddling: Meddling, retries: number): void {
    const { who, isCareful, thinksMs } = meddling;
    const { status, body: read } = this.#azure.ask({ who, method: "GET", path: edit.path, query: API_VERSION });
    if (status !== 200) return;
    const body = edit.change(structuredClone(read) as Json);
    if (body === undefined) return;
    const headers: Record<string, string> = isCareful ? { "if-match": String(body["etag"]) } : {};
    this.#timeline.after(thinksMs, () => {
      const answer = this.#azure.ask({ who, method: "PUT", path: edit.path, query: API_VERSION, headers, body });
      if (answer.status === 412 && retries > 0) this.#perform(edit, meddling, retries - 1);
    });
  }

  #editOf({ who, how, which }: Meddling): Edit | undefined {
    switch (how) {
      case "addAccess":
      case "changeAccess":
      case "dropAccess":
      case "dropOurAccess":
        return { path: `${this.#network}/networkSecurityGroups/nsg`, change: (body) => ACCESS[how](body, which) };
      case "tagPublicIP": {
        const path = pickFrom(this.#paths("publicIPAddresses"), which);
        return path === undefined ? undefined : { path, change: (body) => tagged(body, which) };
      }
      case "deleteLoadBalancer": {
        const path = pickFrom(this.#paths("loadBalancers"), which);
        if (path !== undefined && which % 4 === 0) this.#azure.ask({ who, method: "DELETE", path });
        return undefined;
      }
      case "addEntry":
      case "dropEntry":
      case "dropNode":
      case "setState": {
        const pool = pickFrom(this.#pools(), which);
        return pool === undefined ? undefined : { path: pool, change: (body) => ENTRIES[how](body, which) };
      }
      case "addParts": {
        const path = pickFrom(this.#paths("loadBalancers"), which);
        if (path === undefined) return undefined;
        const publicIP = path.endsWith("-internal") ? undefined : this.#makePublicIP(who, which);
        return {
          path,
          change: (body) => withParts(body, which, { path, publicIP, network: this.#network, sku: this.#sku }),
        };
      }
      case "changeParts":
      case "dropParts":
      case "tag":
      case "retimeRules":
      case "dropRules":
      case "dropFrontend":
      case "outbound": {
        const path = pickFrom(this.#paths("loadBalancers"), which);
        return path === undefined ? undefined : { path, change: (body) => PARTS[how](body, which) };
      }
    }
  }

  #makePublicIP(who: string, which: number): string {
    const path = `${this.#network}/publicIPAddresses/hand-ip-${which % 3}`;
    const body = { ...publicIPOf(this.#sku, "westus2"), tags: { made: "by hand" } };
    if (!this.#azure.state.resources.has(path.toLowerCase()))
      this.#azure.ask({ who, method: "PUT", path, query: API_VERSION, body });
    return path;
  }

  #paths(type: string): string[] {
    const prefix = `${this.#network}/${type}/`.toLowerCase();
    return [...this.#azure.state.resources.values()]
      .map(({ id }) => id)
      .filter((id) => id.toLowerCase().startsWith(prefix));
  }

  #pools(): string[] {
    return this.#paths("loadBalancers").flatMap((path) => {
      const { body } = this.#azure.state.resources.get(path.toLowerCase()) ?? { body: {} };
      return objectsOf(propertiesOf(body)["backendAddressPools"])
        .map(({ name }) => String(name))
        .filter((name) => !FOREIGN_NAME.test(name))
        .map((name) => `${path}/backendAddressPools/${name}`);
    });
  }
}

function pickFrom<T>(items: readonly T[], which: number): T | undefined {
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

function tagged(body: Json, which: number): Json {
  return { ...body, tags: { ...(body["tags"] as Json), [`hand-tag-${which % 3}`]: String(which) } };
}

interface Where {
  readonly path: string;
  readonly publicIP: string | undefined;
  readonly network: string;
  readonly sku: Sku;
}

/** A whole load balancer of their own on ours: frontend, pool, probe, rule. */
function withParts(body: Json, which: number, { path, publicIP, network, sku }: Where): Json {
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

type Change = (body: Json, which: number) => Json | undefined;

function mapped(body: Json, collection: string, fits: RegExp, change: (part: Json) => Json): Json {
  const parts = itemsOf(body, collection).map((part) => (fits.test(nameOf(part)) ? change(part) : part));
  return withProperties(body, { [collection]: parts });
}

function dropped(body: Json, collection: string, goes: (part: Json) => boolean): Json {
  return withProperties(body, { [collection]: itemsOf(body, collection).filter((part) => !goes(part)) });
}

function isUnder(part: Json, reference: string, name: string): boolean {
  const { id = "" } = (propertiesOf(part)[reference] ?? {}) as { id?: string };
  return id.toLowerCase().endsWith(`/${name.toLowerCase()}`);
}

const PARTS: Readonly<
  Record<"changeParts" | "dropParts" | "tag" | "retimeRules" | "dropRules" | "dropFrontend" | "outbound", Change>
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
    const goes = (part: Json): boolean => nameOf(part) === name;
    const collections = ["loadBalancingRules", "probes", "backendAddressPools", "frontendIPConfigurations"];
    return collections.reduce((rest, collection) => dropped(rest, collection, goes), body);
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

const ENTRIES: Readonly<Record<"addEntry" | "dropEntry" | "dropNode" | "setState", Change>> = {
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

const ACCESS: Readonly<Record<"addAccess" | "changeAccess" | "dropAccess" | "dropOurAccess", Change>> = {
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
