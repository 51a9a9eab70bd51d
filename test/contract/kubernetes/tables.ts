/** Tables: what `kubectl get` prints. Columns, cells, and the object that each row carries. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubeObject } from "../../support/kube-connection.ts";
import { type Api, accepted, at, partly } from "./api.ts";
import { defineWidgets, widget, widgetsIn } from "./widgets.ts";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

export function tables(api: Api): void {
  test("a list as a Table: columns, cells, and each row's metadata", async () => {
    const ns = await api.namespace();
    const made = await api.create(ns.in("configmaps"), { metadata: { name: "a" }, data: { k: "v", l: "w" } });
    const table = await tableOf(api, ns.in("configmaps"));
    partly(table, {
      kind: "Table",
      apiVersion: "meta.k8s.io/v1",
      columnDefinitions: [
        { name: "Name", type: "string", format: "name", priority: 0 },
        { name: "Data", type: "string", priority: 0 },
        { name: "Age", type: "string", priority: 0 },
      ],
      rows: [{ object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: made.metadata } }],
    });
    assert.match(String(table.metadata.resourceVersion), /^\d+$/);
    partly(
      cellsOf(table),
      [["a", 2]].map(([name, data]) => [name, data, cellsOf(table)[0]?.[2]]),
    );
    assert.match(String(cellsOf(table)[0]?.[2]), /^\d+s$/);
  });

  test("one object is a Table too", async () => {
    const ns = await api.namespace();
    await api.create(ns.in("configmaps"), { metadata: { name: "a" } });
    assert.equal(cellsOf(await tableOf(api, ns.in("configmaps", "a")))[0]?.[0], "a");
  });

  test("includeObject=Object gives the whole object, None gives none", async () => {
    const ns = await api.namespace();
    await api.create(ns.in("configmaps"), { metadata: { name: "a" }, data: { k: "v" } });
    const whole = await tableOf(api, ns.in("configmaps?includeObject=Object"));
    partly(at(whole, "rows.0.object"), { kind: "ConfigMap", apiVersion: "v1", data: { k: "v" } });
    const none = await tableOf(api, ns.in("configmaps?includeObject=None"));
    assert.equal(at(none, "rows.0.object") ?? null, null);
  });

  test("Services", async () => {
    const ns = await api.namespace();
    const ports = [
      { name: "http", port: 80, nodePort: 31_555 },
      { name: "dns", port: 53, protocol: "UDP", nodePort: 31_556 },
    ];
    const lb = { type: "LoadBalancer", clusterIP: "10.0.66.66", selector: { app: "a", b: "c" }, ports };
    await api.create(ns.in("services"), { metadata: { name: "a" }, spec: lb });
    await api.create(ns.in("services"), {
      metadata: { name: "b" },
      spec: { clusterIP: "None", selector: { app: "a" }, ports: [{ port: 80 }], externalIPs: ["8.8.8.8"] },
    });
    const pending = await tableOf(api, ns.in("services"));
    assert.deepEqual(columnsOf(pending), ["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector"]);
    assert.deepEqual(priorities(pending), [0, 0, 0, 0, 0, 0, 1]);
    const [a, b] = cellsOf(pending).map((cells) => cells.with(5, "age"));
    const both = "80:31555/TCP,53:31556/UDP";
    assert.deepEqual(a, ["a", "LoadBalancer", "10.0.66.66", "<pending>", both, "age", "app=a,b=c"]);
    assert.deepEqual(b, ["b", "ClusterIP", "None", "8.8.8.8", "80/TCP", "age", "app=a"]);
    const ingress = [{ ip: "5.6.7.8" }, { ip: "1.2.3.4" }];
    accepted(await api.mergePatch(ns.in("services", "a", "status"), { status: { loadBalancer: { ingress } } }));
    assert.equal(cellsOf(await tableOf(api, ns.in("services", "a")))[0]?.[3], "1.2.3.4,5.6.7.8");
  });

  test("Nodes", async () => {
    const { metadata } = await api.create("/api/v1/nodes", {
      metadata: {
        generateName: "table-",
        labels: { "node-role.kubernetes.io/agent": "", "kubernetes.io/role": "spare" },
      },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: "Ready", status: "True" }],
        addresses: [{ type: "InternalIP", address: "10.0.0.4" }],
        nodeInfo: { kubeletVersion: "v1.34.0", osImage: "Linux", kernelVersion: "6", containerRuntimeVersion: "c://1" },
      },
    });
    const table = await tableOf(api, `/api/v1/nodes/${metadata.name}`);
    assert.deepEqual(columnsOf(table).slice(0, 5), ["Name", "Status", "Roles", "Age", "Version"]);
    assert.deepEqual(columnsOf(table).slice(5, 10), [
      "Internal-IP",
      "External-IP",
      "OS-Image",
      "Kernel-Version",
      "Container-Runtime",
    ]);
    assert.deepEqual(cellsOf(table)[0]?.with(3, "age"), [
      metadata.name,
      "Ready,SchedulingDisabled",
      "agent,spare",
      "age",
      "v1.34.0",
      "10.0.0.4",
      "<none>",
      "Linux",
      "6",
      "c://1",
    ]);
  });

  test("Pods, EndpointSlices, Leases, Secrets, Namespaces", async () => {
    const ns = await api.namespace();
    const containers = [{ name: "c", image: "i" }];
    await api.create(ns.in("pods"), { metadata: { name: "p" }, spec: { nodeName: "n1", containers } });
    const pod = cellsOf(await tableOf(api, ns.in("pods")))[0];
    assert.deepEqual(pod?.with(4, "age"), ["p", "0/1", "Pending", "0", "age", "<none>", "n1", "<none>", "<none>"]);
    const slices = ns.group("discovery.k8s.io/v1", "endpointslices");
    await api.create(slices, {
      metadata: { name: "s" },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.1.0.1"] }, { addresses: ["10.1.0.2"] }],
      ports: [{ name: "http", port: 8080 }],
    });
    const slice = cellsOf(await tableOf(api, slices))[0];
    assert.deepEqual(slice?.with(4, "age"), ["s", "IPv4", "8080", "10.1.0.1,10.1.0.2", "age"]);
    const leases = ns.group("coordination.k8s.io/v1", "leases");
    await api.create(leases, { metadata: { name: "l" }, spec: { holderIdentity: "me", leaseDurationSeconds: 15 } });
    assert.deepEqual(cellsOf(await tableOf(api, leases))[0]?.with(2, "age"), ["l", "me", "age"]);
    await api.create(ns.in("secrets"), { metadata: { name: "x" }, stringData: { k: "v" } });
    assert.deepEqual(cellsOf(await tableOf(api, ns.in("secrets")))[0]?.with(3, "age"), ["x", "Opaque", 1, "age"]);
    const namespace = cellsOf(await tableOf(api, `/api/v1/namespaces/${ns.name}`))[0];
    assert.deepEqual(namespace?.with(2, "age"), [ns.name, "Active", "age"]);
  });

  test("Events", async () => {
    const ns = await api.namespace();
    const now = `${new Date().toISOString().slice(0, 19)}Z`;
    await api.create(ns.in("events"), {
      metadata: { name: "e" },
      involvedObject: { kind: "Service", name: "web", namespace: ns.name, fieldPath: "spec.ports" },
      reason: "Happened",
      message: " it happened\n",
      type: "Warning",
      source: { component: "azlb", host: "n1" },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 2,
    });
    const table = await tableOf(api, ns.in("events"));
    const columns = [
      "Last Seen",
      "Type",
      "Reason",
      "Object",
      "Subobject",
      "Source",
      "Message",
      "First Seen",
      "Count",
      "Name",
    ];
    assert.deepEqual(columnsOf(table), columns);
    const cells = cellsOf(table)[0]?.with(0, "age").with(7, "age");
    const said = ["age", "Warning", "Happened", "service/web", "spec.ports", "azlb, n1", "it happened", "age", 2, "e"];
    assert.deepEqual(cells, said);
  });

  test("custom resources: the definition's columns, null where the path leads nowhere", async () => {
    await defineWidgets(api);
    const { collection, path } = widgetsIn(await api.namespace(), "a");
    await api.create(collection, widget("a", { size: 3 }));
    const table = await tableOf(api, collection);
    assert.deepEqual(columnsOf(table), ["Name", "Size", "Phase", "Colour", "Age"]);
    assert.deepEqual(priorities(table), [0, 0, 0, 1, 0]);
    assert.deepEqual(cellsOf(table)[0]?.with(4, "age"), ["a", 3, null, "red", "age"]);
    accepted(await api.mergePatch(`${path}/status`, { status: { phase: "Ready" } }));
    assert.equal(cellsOf(await tableOf(api, path))[0]?.[2], "Ready");
  });

  test("a watch of Tables names the columns in its first event only", async () => {
    const ns = await api.namespace();
    await api.create(ns.in("configmaps"), { metadata: { name: "a" } });
    await api.create(ns.in("configmaps"), { metadata: { name: "b" } });
    const watch = await api.watch(ns.in("configmaps?watch=true"), { headers: { accept: TABLE } });
    const [first, second] = [await watch.next(), await watch.next()];
    watch.close();
    partly(first, { type: "ADDED", object: { kind: "Table" } });
    assert.deepEqual(columnsOf(first.object), ["Name", "Data", "Age"]);
    partly(second, { type: "ADDED", object: { kind: "Table" } });
    assert.equal(second.object["columnDefinitions"] ?? null, null);
    assert.equal(cellsOf(second.object)[0]?.length, 3);
  });
}

async function tableOf(api: Api, path: string): Promise<KubeObject> {
  return accepted(await api.get(path, { accept: TABLE }));
}

function columnsOf(table: KubeObject): unknown[] {
  return (table["columnDefinitions"] as { name: string }[]).map((column) => column.name);
}

function priorities(table: KubeObject): unknown[] {
  return (table["columnDefinitions"] as { priority: number }[]).map((column) => column.priority);
}

function cellsOf(table: KubeObject): unknown[][] {
  return (table["rows"] as { cells: unknown[] }[]).map((row) => row.cells);
}
