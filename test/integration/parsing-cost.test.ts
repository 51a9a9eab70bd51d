/**
 * Bounded parsing: the largest object of each watched kind that the API server stores, in the shapes that cost most, costs
 * at most ten times `JSON.parse` of the same bytes, and twice its size at most 2.5 times that. Both are ratios of times of
 * the same run, each the best of several, so that the machine's speed does not matter.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";

import { projectMemberList } from "../../src/controller/pools/member-list.ts";
import {
  projectEndpointSlice,
  projectNamespace,
  projectNode,
  projectService,
} from "../../src/controller/projections.ts";
import { parsePreemptionEvent } from "../../src/core/admin-state/preemption-events.ts";
import { MOST_ITEMS } from "../../src/core/intent/annotation-reader.ts";
import { parseService } from "../../src/core/intent/parse-service.ts";
import { readBind } from "../../src/core/lbcf/binds/read-bind.ts";
import { readDriver } from "../../src/core/lbcf/drivers/read-driver.ts";
import { readBackendGroup } from "../../src/core/lbcf/groups/read-backend-group.ts";
import { readLoadBalancer } from "../../src/core/lbcf/load-balancers/read-load-balancer.ts";
import { readPod } from "../../src/core/lbcf/pods/read-pod.ts";
import { readBackendRecord } from "../../src/core/lbcf/records/read-backend-record.ts";
import { FieldOmitter, parseWatchEvent } from "../../src/kube/cache/watch-event.ts";
import { sameJson, type KubeObject } from "../../src/kube/client/resources.ts";
import { CONFIG } from "../support/core-fixtures.ts";

const MOST_TIMES_JSON = 10;
const MOST_WHEN_DOUBLED = 2.5;
/** Below that many times `JSON.parse`, the growth is that of `JSON.parse` itself. */
const AS_CHEAP_AS_JSON = 2;
const RUNS = 3;
/** On a busy machine few runs are undisturbed: the best of all attempts counts, and they are spread over some seconds. */
const ATTEMPTS = 40;
const PAUSE_MS = 200;
/** All annotations of an object. */
const ANNOTATIONS = 256 * 1024 - 512;
/** All values of a ConfigMap. */
const CONFIG_MAP = 1024 * 1024 - 512;
/** Etcd's limit for a request, less what the rest of the object takes. */
const OBJECT = 1.4 * 1024 * 1024;
const PREFIX = "service.beta.kubernetes.io/";
const UNREAD = new FieldOmitter(["managedFields"]);

interface Shape {
  readonly title: string;
  readonly bytes: number;
  readonly make: (bytes: number) => object;
  readonly read: (object: KubeObject) => unknown;
}

function shape(title: string, bytes: number, read: Shape["read"], make: Shape["make"]): Shape {
  return { title, bytes, make, read };
}

/** As many items of about that size as fit. */
function items<Item>(bytes: number, each: number, make: (at: number) => Item): Item[] {
  return Array.from({ length: Math.floor(bytes / each) }, (_, at) => make(at));
}

function map(bytes: number, each: number, key: (at: number) => string): Record<string, string> {
  return Object.fromEntries(items(bytes, each, (at) => [key(at), "v"]));
}

const address = (at: number): string => `${20 + ((at >> 16) & 127)}.${(at >> 8) & 255}.${at & 255}.7`;
const METADATA = { name: "a", namespace: "default", uid: "00000000-0000-4000-8000-000000000001", resourceVersion: "7" };

function readService(object: KubeObject): unknown {
  return parseService(projectService(object), CONFIG);
}

function annotated(title: string, make: (bytes: number) => Record<string, string>): Shape {
  return shape(`Service: ${title}`, ANNOTATIONS, readService, (bytes) => ({
    metadata: { ...METADATA, annotations: make(bytes) },
    spec: { type: "LoadBalancer", ports: [{ protocol: "TCP", port: 80, nodePort: 30_080 }] },
  }));
}

function valued(name: string, make: (bytes: number) => string): Shape {
  return annotated(name, (bytes) => ({ [PREFIX + name]: make(bytes) }));
}

function service(title: string, make: (bytes: number) => object): Shape {
  return shape(`Service: ${title}`, OBJECT, readService, (bytes) => ({
    metadata: METADATA,
    spec: { type: "LoadBalancer", ports: [{ protocol: "TCP", port: 80, nodePort: 30_080 }], ...make(bytes) },
  }));
}

interface Limited {
  /** By key without its prefix. */
  readonly annotations?: (most: number) => Readonly<Record<string, string>>;
  readonly spec?: (most: number) => object;
}

/** With as many items as are looked at, in an object that is as large as it may be: beyond them everything is cheap. */
function limited(title: string, { annotations = () => ({}), spec = () => ({}) }: Limited): Shape {
  return shape(`Service at the limit: ${title}`, OBJECT, readService, (bytes) => {
    const most = Math.floor((MOST_ITEMS * bytes) / OBJECT);
    const own = Object.fromEntries(Object.entries(annotations(most)).map(([key, value]) => [PREFIX + key, value]));
    const room = (ANNOTATIONS * bytes) / OBJECT - JSON.stringify(own).length;
    const object = {
      metadata: { ...METADATA, annotations: { ...own, "e.io/padding": "x".repeat(Math.max(0, room)) } },
      spec: { type: "LoadBalancer", ports: [{ protocol: "TCP", port: 80, nodePort: 30_080 }], ...spec(most) },
    };
    const padding = "x".repeat(Math.max(0, bytes - JSON.stringify(object).length));
    return { ...object, status: { conditions: [{ type: "e.io/padding", status: "True", message: padding }] } };
  });
}

const every = (most: number, item: (at: number) => string): string[] =>
  Array.from({ length: most }, (_, at) => item(at));
const range6 = (at: number): string => `2001:db8:${(at >> 8).toString(16)}:${(at & 255).toString(16)}::/64`;
/** In an order that has to be sorted. */
const shuffled = (at: number): string => `${address((at * 7919) % 65_521)}/32`;
const portsTo = (most: number, change: object = {}): object => ({
  ports: Array.from({ length: most }, (_, at) => ({ protocol: "TCP", port: 1 + at, nodePort: 30_000, ...change })),
});
const perPort = (most: number, name: string, value: string): Record<string, string> =>
  Object.fromEntries(every(Math.min(most, 3_500), (at) => `port_${at + 1}_${name}`).map((key) => [key, value]));
const blanks = " ".repeat(200_000);

const AT_THE_LIMIT: readonly Shape[] = [
  limited("source ranges", { spec: (most) => ({ loadBalancerSourceRanges: every(most, shuffled) }) }),
  limited("source ranges of IPv6", { spec: (most) => ({ loadBalancerSourceRanges: every(most, range6) }) }),
  limited("source ranges with host bits", {
    spec: (most) => ({ loadBalancerSourceRanges: every(most, (at) => `${address(at)}/24`) }),
  }),
  limited("ranges in all three places", {
    annotations: (most) => ({
      "azure-allowed-ip-ranges": every(most, range6).join(","),
      "load-balancer-source-ranges": every(most, range6).join(","),
    }),
    spec: (most) => ({ loadBalancerSourceRanges: every(most, range6) }),
  }),
  limited("service tags", {
    annotations: (most) => ({ "azure-allowed-service-tags": every(most, (at) => `T ${at}`).join(",") }),
  }),
  limited("additional addresses", {
    annotations: (most) => ({ "azure-additional-public-ips": every(most, address).join(",") }),
  }),
  limited("tags", { annotations: (most) => ({ "azure-pip-tags": every(most, (at) => `k${at}=v`).join(",") }) }),
  limited("domain names of a private link service", {
    annotations: (most) => ({
      "azure-load-balancer-internal": "true",
      "azure-pls-create": "true",
      "azure-pls-fqdns": every(most, (at) => `k${at}.v`).join(" "),
      "azure-pls-visibility": every(most, (at) => `s${at}`).join(" "),
    }),
  }),
  limited("ports", { spec: (most) => portsTo(most) }),
  limited("ports that cannot be", { spec: (most) => portsTo(most, { protocol: "SCTP" }) }),
  limited("ports with keys", {
    annotations: (most) => perPort(most, "health-probe_interval", "x"),
    spec: (most) => portsTo(most),
  }),
  limited("ports that are probed at another", {
    annotations: (most) => perPort(most, "health-probe_port", "none"),
    spec: (most) => portsTo(most),
  }),
  limited("ports, and a long value for all", {
    annotations: (most) => ({ "azure-load-balancer-health-probe-interval": `5${blanks.slice(0, most * 50)}` }),
    spec: (most) => portsTo(most),
  }),
  limited("ports of other protocols, and a long value for all", {
    annotations: (most) => ({ "azure-load-balancer-health-probe-protocol": `x${blanks.slice(0, most * 50)}` }),
    spec: (most) => portsTo(most, { appProtocol: "h2c" }),
  }),
];

function of(title: string, read: Shape["read"], make: (bytes: number) => object): Shape {
  return shape(title, OBJECT, read, (bytes) => ({ metadata: METADATA, ...make(bytes) }));
}

const conditions = (bytes: number): object[] => items(bytes, 40, (at) => ({ type: `t${at}`, status: "True" }));
const texts = (bytes: number): Record<string, string> => map(bytes, 14, (at) => `l${at}`);

const SHAPES: readonly Shape[] = [
  annotated("unknown keys", (bytes) => map(bytes, 45, (at) => `${PREFIX}azure-x${at}`)),
  annotated("keys of other tools", (bytes) => map(bytes, 20, (at) => `e.io/${at}`)),
  annotated("misspelt keys", (bytes) => map(bytes, 65, (at) => `${PREFIX}azure-load-balancer-internl${at}`)),
  annotated("keys of ports", (bytes) => map(bytes, 65, (at) => `${PREFIX}port_${at}_health-probe_interval`)),
  valued("azure-load-balancer-internal", (bytes) => "t".repeat(bytes)),
  valued("azure-allowed-ip-ranges", (bytes) => items(bytes, 16, (at) => `${address(at)}/32`).join(",")),
  valued("load-balancer-source-ranges", (bytes) => ",".repeat(bytes)),
  valued("azure-allowed-service-tags", (bytes) => items(bytes, 9, (at) => `Tag${at}`).join(",")),
  valued("azure-additional-public-ips", (bytes) => items(bytes, 13, address).join(",")),
  valued("azure-pip-tags", (bytes) => items(bytes, 10, (at) => `k${at}=v`).join(",")),
  valued("azure-pip-ip-tags", (bytes) => items(bytes, 10, (at) => `k${at}=v`).join(",")),
  valued("azure-load-balancer-mode", (bytes) => items(bytes, 7, (at) => `a${at}`).join(",")),
  valued("azure-dns-label-name", (bytes) => "a-".repeat(bytes / 2)),
  valued("azure-pip-prefix-id", (bytes) => "/a".repeat(bytes / 2)),
  valued("azure-load-balancer-resource-group", (bytes) => "a.".repeat(bytes / 2)),
  service("source ranges", (bytes) => ({ loadBalancerSourceRanges: items(bytes, 18, (at) => `${address(at)}/32`) })),
  service("ports", (bytes) => ({
    ports: items(bytes, 60, (at) => ({ protocol: "TCP", port: 1 + (at % 65_535), nodePort: 30_000 + (at % 2_767) })),
  })),
  of("Node: taints", projectNode, (bytes) => ({
    spec: { taints: items(bytes, 40, (at) => ({ key: `k${at}`, effect: "NoSchedule" })) },
  })),
  of("Node: addresses", projectNode, (bytes) => ({
    status: { addresses: items(bytes, 45, (at) => ({ type: "InternalIP", address: address(at) })) },
  })),
  shape("Node: annotations", ANNOTATIONS, projectNode, (bytes) => ({
    metadata: { ...METADATA, annotations: map(bytes, 20, (at) => `e.io/${at}`) },
  })),
  of("EndpointSlice: endpoints", projectEndpointSlice, (bytes) => ({
    addressType: "IPv4",
    endpoints: items(bytes, 60, (at) => ({
      addresses: [address(at)],
      nodeName: `n${at}`,
      conditions: { ready: true },
    })),
  })),
  of("Namespace: labels", projectNamespace, (bytes) => ({
    metadata: { ...METADATA, labels: map(bytes, 20, (at) => `e.io/${at}`) },
  })),
  of(
    "Lease: holder",
    (object) => sameJson((object as { spec?: unknown }).spec, { holderIdentity: "a" }),
    (bytes) => ({ spec: { holderIdentity: "a".repeat(bytes / 2), renewTime: "2".repeat(bytes / 2) } }),
  ),
  shape("ConfigMap: members", CONFIG_MAP, projectMemberList, (bytes) => ({
    metadata: METADATA,
    data: { members: items(bytes, 9, (at) => `n${at}`).join("\n") },
  })),
  of(
    "Event: times",
    (object) => parsePreemptionEvent(object),
    (bytes) => ({
      involvedObject: { kind: "Node", name: "n" },
      message: "Preempt Scheduled".repeat(bytes / 34),
      firstTimestamp: "2".repeat(bytes / 4),
      lastTimestamp: " (".repeat(bytes / 8),
    }),
  ),
  of("Pod: conditions", readPod, (bytes) => ({ status: { conditions: conditions(bytes) } })),
  of("Pod: readiness gates", readPod, (bytes) => ({
    spec: { readinessGates: items(bytes, 35, (at) => ({ conditionType: `e.io/${at}` })) },
  })),
  of("BackendGroup: static", readBackendGroup, (bytes) => ({
    spec: { static: items(bytes, 18, (at) => `${address(at)}:80`) },
  })),
  of("BackendGroup: selector", readBackendGroup, (bytes) => ({
    spec: { pods: { byLabel: { selector: texts(bytes) } } },
  })),
  of("BackendRecord: parameters", readBackendRecord, (bytes) => ({ spec: { parameters: texts(bytes) } })),
  of("Bind: load balancers", readBind, (bytes) => ({
    spec: { loadBalancers: items(bytes, 50, (at) => ({ name: `lb${at}`, driver: "d", spec: { a: "b" } })) },
  })),
  of("LoadBalancerDriver: webhooks", readDriver, (bytes) => ({
    spec: { webhooks: items(bytes, 35, (at) => ({ name: `w${at}`, timeout: "10s" })) },
  })),
  of("LoadBalancerDriver: a duration", readDriver, (bytes) => ({
    spec: { webhooks: [{ name: "w", timeout: "1h".repeat(bytes / 2) }] },
  })),
  of("LoadBalancer: spec", readLoadBalancer, (bytes) => ({ spec: { lbSpec: texts(bytes) } })),
];

function bestMs(work: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) {
    const startMs = performance.now();
    work();
    best = Math.min(best, performance.now() - startMs);
  }
  return best;
}

interface Costs {
  readonly jsonMs: number;
  readonly ownMs: number;
}

const UNMEASURED: Costs = { jsonMs: Number.POSITIVE_INFINITY, ownMs: Number.POSITIVE_INFINITY };

function costs({ make, read }: Shape, bytes: number, before: Costs): Costs {
  const line = Buffer.from(JSON.stringify({ type: "ADDED", object: make(bytes) }));
  const jsonMs = bestMs(() => JSON.parse(line.toString("utf8")));
  const ownMs = bestMs(() => read(parseWatchEvent("object", UNREAD.text(line)).object));
  return { jsonMs: Math.min(before.jsonMs, jsonMs), ownMs: Math.min(before.ownMs, ownMs) };
}

/** What is too much, if anything. */
function excess(half: Costs, whole: Costs): string | undefined {
  const times = whole.ownMs / whole.jsonMs;
  if (times > MOST_TIMES_JSON) return `${times.toFixed(1)} times JSON.parse`;
  const doubled = whole.ownMs / half.ownMs;
  const isOurs = times > AS_CHEAP_AS_JSON;
  return isOurs && doubled > MOST_WHEN_DOUBLED ? `${doubled.toFixed(1)} times as long for twice the size` : undefined;
}

for (const measured of [...SHAPES, ...AT_THE_LIMIT]) {
  test(`${measured.title}: parsing costs a bounded share of JSON.parse`, async () => {
    let [half, whole] = [UNMEASURED, UNMEASURED];
    let found: string | undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      half = costs(measured, measured.bytes / 2, half);
      whole = costs(measured, measured.bytes, whole);
      found = excess(half, whole);
      if (found === undefined) return;
      await setTimeout(PAUSE_MS);
    }
    assert.fail(found);
  });
}
