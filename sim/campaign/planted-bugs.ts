/**
 * Known bugs that can be planted in a controller, to test that the laws detect them. Each one changes what the
 * controller's transports send or receive, so that the product's code needs no switch. Used by
 * `azlb simulate --plant`, `--planted` and tests only.
 */
import type { ArmRequest, ArmResponse, ArmTransport } from "../../src/azure/arm/transport.ts";
import { OPEN_FENCE, type Fence } from "../../src/kube/election/lease.ts";
import type { Transport, WireRequest, WireResponse } from "../../src/kube/client/transport.ts";
import { FOREIGN_NAME } from "../actions/edited-bodies.ts";
import type { Simulation } from "../environment/simulation.ts";

type ArmWrapper = (transport: ArmTransport, simulation: Simulation) => ArmTransport;
type KubeWrapper = (transport: Transport, simulation: Simulation) => Transport;

export interface PlantedBug {
  /** What the controller does wrong, as text. */
  readonly does: string;
  readonly arm?: ArmWrapper;
  readonly kube?: KubeWrapper;
  readonly fenceOf?: (fence: Fence) => Fence;
}

const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const NOTHING = { value: [] };

export const PLANTED_BUGS = {
  "skip-etag": {
    does: "writes without If-Match",
    arm: interceptArm((request, send) => {
      const { "if-match": _, ...headers } = lowerCased(request.headers);
      return send({ ...request, headers });
    }),
  },
  "no-finalizer": {
    does: "treats every Service as if it had the finalizer",
    kube: changeKubeObjects((object) => {
      const metadata = object["metadata"] as Json;
      return object["kind"] === "Service" || "clusterIP" in ((object["spec"] ?? {}) as Json)
        ? { ...object, metadata: { ...metadata, finalizers: [FINALIZER] } }
        : object;
    }),
  },
  "early-finalizer": {
    does: "removes the finalizer of a deleted Service after the first write to Azure instead of the last",
    arm: interceptArm(async (request, send, { cluster }) => {
      const response = await send(request);
      if (request.method === "GET" || response.status >= 400) return response;
      for (const { metadata } of cluster.objects("services")) {
        const path = `/api/v1/namespaces/${metadata.namespace}/services/${metadata.name}`;
        if (metadata.deletionTimestamp !== undefined) cluster.send("PATCH", path, { metadata: { finalizers: null } });
      }
      return response;
    }),
  },
  "failed-list-is-empty": {
    does: "treats a failed list call as an empty list",
    arm: interceptArm(async (request, send) => {
      const response = await send(request);
      const isList = request.method === "GET" && /\/(loadBalancers|publicIPAddresses)\?/i.test(request.url);
      return isList && response.status >= 400 ? { ...response, status: 200, body: JSON.stringify(NOTHING) } : response;
    }),
  },
  "first-node-only": {
    does: "treats the first node of a list as the whole list",
    kube: interceptKube(async (request, send) => {
      const response = await send(request);
      const isList = request.path.startsWith("/api/v1/nodes?") && request.path.includes("sendInitialEvents=true");
      return isList && response.status === 200 ? { ...response, body: firstOnly(response.body) } : response;
    }),
  },
  "deaf-to-deletions": {
    does: "ignores deletions of nodes",
    kube: interceptKube(async (request, send) => {
      const response = await send(request);
      const isWatch = request.path.startsWith("/api/v1/nodes?") && response.status === 200;
      const received = (frame: Json): Json | undefined => (frame["type"] === "DELETED" ? undefined : frame);
      return isWatch ? { ...response, body: mapLines(response.body, received) } : response;
    }),
  },
  "deaf-to-endpoints": {
    does: "ignores changes of EndpointSlices that it knows",
    kube: interceptKube(async (request, send) => {
      const response = await send(request);
      const isWatch = request.path.startsWith("/apis/discovery.k8s.io/v1/endpointslices?") && response.status === 200;
      const received = (frame: Json): Json | undefined => (frame["type"] === "MODIFIED" ? undefined : frame);
      return isWatch ? { ...response, body: mapLines(response.body, received) } : response;
    }),
  },
  "drop-unknown-fields": {
    does: "writes back only the known fields of frontends",
    arm: changeArmWrites(/\/loadBalancers\/[^/]+$/i, (body) =>
      mapParts(body, "frontendIPConfigurations", (frontend) => {
        const properties = Object.entries(frontend["properties"] as Json);
        return { ...frontend, properties: Object.fromEntries(properties.filter(([key]) => KNOWN.has(key))) };
      }),
    ),
  },
  "release-ip-first": {
    does: "deletes a public IP before the frontend that uses it",
    arm: interceptArm(async (request, send) => {
      if (request.method === "PUT" && /\/loadBalancers\/[^/]+\?/i.test(request.url)) {
        const { body: before } = await send({ ...request, method: "GET", body: undefined });
        const going = publicIPsIn(before).difference(publicIPsIn(request.body ?? ""));
        for (const id of going) {
          const url = request.url.replace(/(\.com)[^?]*/, `$1${id}`);
          if (!FOREIGN_NAME.test(id.slice(id.lastIndexOf("/") + 1)))
            await send({ ...request, method: "DELETE", url, body: undefined });
        }
      }
      return send(request);
    }),
  },
  "ignore-lease": { does: "keeps writing after it has lost the lease", fenceOf: () => OPEN_FENCE },
  "forget-admin-state": {
    does: "writes pools without the admin state of their entries",
    arm: changeArmWrites(/\/loadBalancers\/[^?]+$/i, (body) => withoutKey(body, "adminState")),
  },
  "own-whole-pool": {
    does: "treats every entry of a pool as its own",
    arm: changeArmWrites(/\/backendAddressPools\/[^/]+$/i, (body) => {
      const properties = body["properties"] as Json;
      const entries = (properties["loadBalancerBackendAddresses"] ?? []) as { name: string }[];
      const own = entries.filter(({ name }) => !FOREIGN_NAME.test(name));
      return { ...body, properties: { ...properties, loadBalancerBackendAddresses: own } };
    }),
  },
  "stale-listing": {
    does: "never learns of machines that were made after its first listing",
    arm: (transport) => {
      const listed = new Map<string, ReadonlySet<string>>();
      return {
        send: async (request) => {
          const response = await transport.send(request);
          const path = request.url.split("?")[0] ?? "";
          const isListing = request.method === "GET" && /\/(networkInterfaces|virtualMachines)$/i.test(path);
          return isListing && response.status === 200
            ? { ...response, body: knownOnly(listed, path, response.body) }
            : response;
        },
        close: () => transport.close(),
      };
    },
  },
  "silent-retry": {
    does: "writes no event about a failure that it will retry",
    kube: interceptKube((request, send) => {
      const isTold = request.method === "POST" && /"reason":"(Sync|Delete)LoadBalancerFailed"/.test(request.body ?? "");
      return isTold ? Promise.resolve({ status: 201, headers: {}, body: bodyOf({ metadata: {} }) }) : send(request);
    }),
  },
  "drop-foreign-access": {
    does: "writes back only its own rules of the security group",
    arm: changeArmWrites(/\/networkSecurityGroups\/[^/]+$/i, (body) => {
      const properties = body["properties"] as Json;
      const rules = (properties["securityRules"] ?? []) as { name: string }[];
      return {
        ...body,
        properties: { ...properties, securityRules: rules.filter(({ name }) => !FOREIGN_NAME.test(name)) },
      };
    }),
  },
  "forget-members": {
    does: "does not record which nodes it added to pools",
    kube: interceptKube((request, send) => {
      if (request.method === "GET" || !request.path.includes("/configmaps")) return send(request);
      return Promise.resolve({ status: 200, headers: {}, body: bodyOf({ metadata: {} }) });
    }),
  },
} as const satisfies Readonly<Record<string, PlantedBug>>;

export type PlantedBugName = keyof typeof PLANTED_BUGS;

export const PLANTED_BUG_NAMES = Object.keys(PLANTED_BUGS) as PlantedBugName[];

type Json = Readonly<Record<string, unknown>>;

/** The properties of a frontend that the controllers know. */
const KNOWN = new Set([
  "privateIPAddress",
  "privateIPAllocationMethod",
  "privateIPAddressVersion",
  "publicIPAddress",
  "subnet",
]);
type ArmSend = (request: ArmRequest) => Promise<ArmResponse>;
type KubeSend = (request: WireRequest) => Promise<WireResponse>;

function interceptArm(
  on: (request: ArmRequest, send: ArmSend, simulation: Simulation) => Promise<ArmResponse>,
): ArmWrapper {
  return (transport, simulation) => ({
    send: (request) => on(request, (real) => transport.send(real), simulation),
    close: () => transport.close(),
  });
}

/** Changes the bodies of PUTs to matching paths. */
function changeArmWrites(path: RegExp, change: (body: Json) => Json): ArmWrapper {
  return interceptArm((request, send) => {
    const { method, url, body } = request;
    const isHit = method === "PUT" && body !== undefined && path.test(url.split("?")[0] ?? "");
    return send(isHit ? { ...request, body: JSON.stringify(change(JSON.parse(body) as Json)) } : request);
  });
}

function interceptKube(on: (request: WireRequest, send: KubeSend) => Promise<WireResponse>): KubeWrapper {
  return (transport) => ({
    send: (request) => on(request, (real) => transport.send(real)),
    close: () => transport.close(),
  });
}

/** Changes every object that is received, in replies, lists and watches. */
function changeKubeObjects(change: (object: Json) => Json): KubeWrapper {
  const received = (value: Json): Json => {
    if (Array.isArray(value["items"])) return { ...value, items: (value["items"] as Json[]).map(change) };
    return "object" in value ? { ...value, object: change(value["object"] as Json) } : change(value);
  };
  return interceptKube(async (request, send) => {
    const response = await send(request);
    return response.status < 300 ? { ...response, body: mapLines(response.body, received) } : response;
  });
}

/** Each chunk of a simulated body consists of whole lines. */
async function* mapLines(
  body: AsyncIterable<Uint8Array>,
  change: (value: Json) => Json | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    const lines = Buffer.from(piece)
      .toString()
      .split("\n")
      .filter((line) => line !== "");
    const changed = lines.flatMap((line) => change(JSON.parse(line) as Json) ?? []);
    yield Buffer.from(changed.map((value) => `${JSON.stringify(value)}\n`).join(""));
  }
}

/** The resources of a list that were in the first list of that path. */
function knownOnly(listed: Map<string, ReadonlySet<string>>, path: string, body: string): string {
  const { value, ...rest } = JSON.parse(body) as { readonly value: readonly { readonly id: string }[] };
  const known = listed.get(path) ?? new Set(value.map(({ id }) => id));
  listed.set(path, known);
  return JSON.stringify({ ...rest, value: value.filter(({ id }) => known.has(id)) });
}

/** Drops all but the first of the objects that a watch starts with. */
function firstOnly(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let [isListed, count] = [false, 0];
  return mapLines(body, (frame) => {
    if (isListed) return frame;
    isListed = frame["type"] === "BOOKMARK";
    count += 1;
    return isListed || count === 1 ? frame : undefined;
  });
}

async function* bodyOf(value: unknown): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(value)}\n`);
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function mapParts(body: Json, collection: string, change: (part: Json) => Json): Json {
  const properties = body["properties"] as Json;
  const parts = (properties[collection] ?? []) as Json[];
  return { ...body, properties: { ...properties, [collection]: parts.map(change) } };
}

function withoutKey(body: Json, key: string): Json {
  return JSON.parse(JSON.stringify(body, (name, value: unknown) => (name === key ? undefined : value))) as Json;
}

/** Ids of the public IPs that a load balancer refers to. */
function publicIPsIn(body: string): Set<string> {
  return new Set([...body.matchAll(/"publicIPAddress":\{"id":"([^"]+)"/g)].flatMap(([, id]) => id ?? []));
}
