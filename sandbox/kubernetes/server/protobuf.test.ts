import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeProtobuf } from "./protobuf.ts";

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
    spec: { ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: 8080, nodePort: 0 }], type: "LoadBalancer" },
  });
});

test("what cannot be decoded is refused with what is wrong", () => {
  assert.throws(() => decodeProtobuf(Buffer.from("{}")), /not a Kubernetes protobuf body/);
  assert.throws(() => decodeProtobuf(body("Deployment", metadata())), /v1 Deployment is taken as JSON only/);
  assert.throws(() => decodeProtobuf(body("Namespace", Buffer.from([0x80]))), /ends too early/);
});
