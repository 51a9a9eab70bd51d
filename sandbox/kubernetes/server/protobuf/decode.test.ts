import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeProtobuf } from "./decode.ts";

/** A length-delimited field. */
function field(number: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  assert.ok(bytes.length < 128 && number < 16, "one-byte tags and lengths are enough here");
  return Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes]);
}

function varint(number: number, value: number): Buffer {
  return value < 128
    ? Buffer.from([number * 8, value])
    : Buffer.from([number * 8, (value % 128) + 128, Math.floor(value / 128)]);
}

function body(kind: string, object: Buffer): Buffer {
  const type = Buffer.concat([field(1, "v1"), field(2, kind)]);
  return Buffer.concat([Buffer.from("k8s\0"), field(1, type), field(2, object)]);
}

const metadata = (...more: Buffer[]): Buffer =>
  field(1, Buffer.concat([field(1, "a"), field(2, ""), field(3, ""), ...more]));

test("a Namespace: empty strings are unset", () => {
  assert.deepEqual(decodeProtobuf(body("Namespace", metadata())), {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "a" },
  });
});

test("a ConfigMap with labels and data", () => {
  const entry = (key: string, value: string): Buffer => Buffer.concat([field(1, key), field(2, value)]);
  const object = Buffer.concat([
    metadata(field(11, entry("l", "1"))),
    field(2, entry("k", "v")),
    field(2, entry("e", "")),
  ]);
  assert.deepEqual(decodeProtobuf(body("ConfigMap", object)), {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", labels: { l: "1" } },
    data: { k: "v", e: "" },
  });
});

test("a Secret's data is base64 in JSON", () => {
  const entry = Buffer.concat([field(1, "k"), field(2, "secret")]);
  const object = Buffer.concat([metadata(), field(2, entry), field(3, "Opaque")]);
  assert.deepEqual(decodeProtobuf(body("Secret", object)), {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "a" },
    data: { k: Buffer.from("secret").toString("base64") },
    type: "Opaque",
  });
});

test("a Service with a port", () => {
  const target = Buffer.concat([varint(1, 0), varint(2, 8080), field(3, "")]);
  const port = Buffer.concat([field(1, "http"), field(2, "TCP"), varint(3, 80), field(4, target), varint(5, 0)]);
  const object = Buffer.concat([metadata(), field(2, Buffer.concat([field(1, port), field(4, "LoadBalancer")]))]);
  assert.deepEqual(decodeProtobuf(body("Service", object)), {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "a" },
    spec: { ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: 8080 }], type: "LoadBalancer" },
  });
});

/** Bodies as Kubernetes' own Go serializer (k8s.io/apimachinery 0.34) writes them. */
const encoded = {
  Lease:
    "6b3873000a1f0a16636f6f7264696e6174696f6e2e6b38732e696f2f763112054c6561736512400a200a046c6f636b12001a0b6b7562" +
    "652d73797374656d22002a0032013738004200121c0a00100f1a0908a5ebdcca0610f02e220908a5ebdcca0610f02e28001a002200",
  Event:
    "6b3873000a0b0a02763112054576656e7412ae010a1c0a057765622e3112001a0764656661756c7422002a0032003800420012220a07" +
    "53657276696365120764656661756c741a037765622201752a02763132003a001a14456e737572696e674c6f616442616c616e636572" +
    "2216456e737572696e67206c6f61642062616c616e6365722a160a12736572766963652d636f6e74726f6c6c65721200320808a5ebdc" +
    "ca0610003a0808a5ebdcca06100040014a064e6f726d616c5200620072007a001a002200",
  Service:
    "6b3873000a0d0a02763112075365727669636512a4010a260a0377656212001a0764656661756c7422002a003201393800420808a5eb" +
    "dcca06100072016612630a190a0012035443501850220a080110001a046874747028b1ea010a100a00120018512206080010001a0028" +
    "00120a0a0361707012037765621a00220c4c6f616442616c616e6365723a00420052005a006000680092010831302e302e302e39a001" +
    "001a150a130a110a0832302e302e302e3412001a035649501a002200",
  Node:
    "6b3873000a0a0a02763112044e6f64651292010a110a016e12001a0022002a00320038004200122f0a0012001a0a617a7572653a2f2f" +
    "2f6e20002a1b0a016b12001a0a4e6f5363686564756c65220808a5ebdcca0610001a4c0a0d0a0363707512060a043530306d1a00221d" +
    "0a0552656164791204547275651a0808a5ebdcca06100022002a00320032040a0208003a140a0012001a0022002a0032003a0042004a" +
    "0052001a002200",
  EndpointSlice:
    "6b3873000a240a13646973636f766572792e6b38732e696f2f7631120d456e64706f696e74536c69636512380a140a0012047765622d" +
    "1a0022002a0032003800420012130a0a31302e3234342e302e351202080032016e1a050a0018903f2204495076341a002200",
};

test("a Lease: an empty holder counts, times have six digits", () => {
  assert.deepEqual(decodeProtobuf(Buffer.from(encoded.Lease, "hex")), {
    kind: "Lease",
    apiVersion: "coordination.k8s.io/v1",
    metadata: { name: "lock", namespace: "kube-system", resourceVersion: "7" },
    spec: {
      holderIdentity: "",
      leaseDurationSeconds: 15,
      acquireTime: "2026-01-02T03:04:05.000006Z",
      renewTime: "2026-01-02T03:04:05.000006Z",
      leaseTransitions: 0,
    },
  });
});

test("an Event: times that are not set are left out", () => {
  assert.deepEqual(decodeProtobuf(Buffer.from(encoded.Event, "hex")), {
    kind: "Event",
    apiVersion: "v1",
    metadata: { name: "web.1", namespace: "default" },
    involvedObject: { kind: "Service", namespace: "default", name: "web", uid: "u", apiVersion: "v1" },
    reason: "EnsuringLoadBalancer",
    message: "Ensuring load balancer",
    source: { component: "service-controller" },
    firstTimestamp: "2026-01-02T03:04:05Z",
    lastTimestamp: "2026-01-02T03:04:05Z",
    count: 1,
    type: "Normal",
    reportingComponent: "",
    reportingInstance: "",
  });
});

test("a whole Service with its status, as an update sends it", () => {
  assert.deepEqual(decodeProtobuf(Buffer.from(encoded.Service, "hex")), {
    kind: "Service",
    apiVersion: "v1",
    metadata: {
      name: "web",
      namespace: "default",
      resourceVersion: "9",
      creationTimestamp: "2026-01-02T03:04:05Z",
      finalizers: ["f"],
    },
    spec: {
      ports: [{ protocol: "TCP", port: 80, targetPort: "http", nodePort: 30001 }, { port: 81 }],
      selector: { app: "web" },
      clusterIPs: ["10.0.0.9"],
      type: "LoadBalancer",
      allocateLoadBalancerNodePorts: false,
    },
    status: { loadBalancer: { ingress: [{ ip: "20.0.0.4", ipMode: "VIP" }] } },
  });
});

test("a Node: quantities, taints and conditions", () => {
  assert.deepEqual(decodeProtobuf(Buffer.from(encoded.Node, "hex")), {
    kind: "Node",
    apiVersion: "v1",
    metadata: { name: "n" },
    spec: { providerID: "azure:///n", taints: [{ key: "k", effect: "NoSchedule", timeAdded: "2026-01-02T03:04:05Z" }] },
    status: {
      capacity: { cpu: "500m" },
      conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "2026-01-02T03:04:05Z" }],
      daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
      nodeInfo: {
        machineID: "",
        systemUUID: "",
        bootID: "",
        kernelVersion: "",
        osImage: "",
        containerRuntimeVersion: "",
        kubeletVersion: "",
        kubeProxyVersion: "",
        operatingSystem: "",
        architecture: "",
      },
    },
  });
});

test("an EndpointSlice", () => {
  assert.deepEqual(decodeProtobuf(Buffer.from(encoded.EndpointSlice, "hex")), {
    kind: "EndpointSlice",
    apiVersion: "discovery.k8s.io/v1",
    metadata: { generateName: "web-" },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.244.0.5"], conditions: { ready: false }, nodeName: "n" }],
    ports: [{ name: "", port: 8080 }],
  });
});

test("what cannot be decoded is refused with what is wrong", () => {
  assert.throws(() => decodeProtobuf(Buffer.from("{}")), /not a Kubernetes protobuf body/);
  assert.throws(() => decodeProtobuf(body("Deployment", metadata())), /v1 Deployment is taken as JSON only/);
  assert.throws(() => decodeProtobuf(body("Namespace", Buffer.from([0x80]))), /ends too early/);
  const lease = Buffer.from(encoded.Lease, "hex");
  assert.throws(() => decodeProtobuf(lease.subarray(0, lease.length - 10)), /ends too early/);
  assert.throws(() => decodeProtobuf(body("Namespace", varint(1, 7))), /a number stands where/);
  assert.throws(() => decodeProtobuf(body("Namespace", Buffer.from([0x0d]))), /unexpected wire type 5/);
});

test("integers may be negative", () => {
  const minusOne = Buffer.concat([Buffer.from([7 * 8]), Buffer.alloc(9, 0xff), Buffer.from([1])]);
  assert.deepEqual(decodeProtobuf(body("Namespace", field(1, minusOne))), {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { generation: -1 },
  });
});
