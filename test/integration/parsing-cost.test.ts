/**
 * Bounded parsing: the largest object of each watched kind that the API server stores, in the shapes that cost most, costs
 * at most ten times `JSON.parse` of the same bytes, and twice its size at most 2.5 times that. Both are ratios of times of
 * the same run, each the best of several, so that the machine's speed does not matter.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { projectMemberList } from "../../src/controller/pools/member-list.ts";
import { projectNode, projectService } from "../../src/controller/projections.ts";
import { parsePreemptionEvent } from "../../src/core/admin-state/preemption-events.ts";
import { parseService } from "../../src/core/intent/parse-service.ts";
import { readBind } from "../../src/core/lbcf/binds/read-bind.ts";
import { readDriver } from "../../src/core/lbcf/drivers/read-driver.ts";
import { readBackendGroup } from "../../src/core/lbcf/groups/read-backend-group.ts";
import { readLoadBalancer } from "../../src/core/lbcf/load-balancers/read-load-balancer.ts";
import { readPod } from "../../src/core/lbcf/pods/read-pod.ts";
import { readBackendRecord } from "../../src/core/lbcf/records/read-backend-record.ts";
import { FieldOmitter, parseWatchEvent } from "../../src/kube/cache/watch-event.ts";
import type { KubeObject } from "../../src/kube/client/resources.ts";
import { CONFIG } from "../support/core-fixtures.ts";

const MOST_TIMES_JSON = 10;
const MOST_WHEN_DOUBLED = 2.5;
/** Below that many times `JSON.parse`, the growth is that of `JSON.parse` itself. */
const AS_CHEAP_AS_JSON = 2;
const RUNS = 3;
const ATTEMPTS = 8;
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

function costs({ make, read }: Shape, bytes: number): { readonly jsonMs: number; readonly ownMs: number } {
  const line = Buffer.from(JSON.stringify({ type: "ADDED", object: make(bytes) }));
  const jsonMs = bestMs(() => JSON.parse(line.toString("utf8")));
  return { jsonMs, ownMs: bestMs(() => read(parseWatchEvent("object", UNREAD.text(line)).object)) };
}

/** What is too much, if anything. */
function excess(measured: Shape): string | undefined {
  const [half, whole] = [costs(measured, measured.bytes / 2), costs(measured, measured.bytes)];
  const times = whole.ownMs / whole.jsonMs;
  if (times > MOST_TIMES_JSON) return `${times.toFixed(1)} times JSON.parse`;
  const doubled = whole.ownMs / half.ownMs;
  const isOurs = times > AS_CHEAP_AS_JSON;
  return isOurs && doubled > MOST_WHEN_DOUBLED ? `${doubled.toFixed(1)} times as long for twice the size` : undefined;
}

for (const measured of SHAPES) {
  test(`${measured.title}: parsing costs a bounded share of JSON.parse`, () => {
    let found: string | undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      found = excess(measured);
      if (found === undefined) return;
    }
    assert.fail(found);
  });
}
