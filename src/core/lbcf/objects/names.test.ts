import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { group, meta, record } from "../../../../test/support/lbcf-objects.ts";
import { md5 } from "../../util/md5.ts";
import { labelValue, recordLabels, otherRecordNames, recordName } from "./names.ts";
import type { Port } from "./objects.ts";
import { newRecord } from "../records/record-spec.ts";

describe("names", () => {
  const tcp = { port: 80, protocol: "TCP" } as const;

  test("records are named as LBCF names them", () => {
    const owner = group("web");
    const ofPod = { kind: "Pod", name: "web-0", uid: "u1", port: tcp } as const;
    assert.equal(recordName(owner, "lb", ofPod), md5("lb_web_u1_80_TCP"));
    const ofNode = { kind: "Service", name: "svc", port: tcp, nodePort: 30_080, nodeName: "n1" } as const;
    assert.equal(recordName(owner, "lb", ofNode), md5("lb_web_svc_80_TCP_n1"));
    assert.equal(recordName(owner, "lb", { kind: "Static", address: "a:1" }), md5("lb_web_a:1"));
  });

  test("a Bind's are LBCF's, with the protocol as it was written", () => {
    const owner = { kind: "Bind" as const, metadata: meta("web") };
    const of = (port: Port): string => recordName(owner, "lb", { kind: "Pod", name: "web-0", port }, "10.0.0.1");
    assert.equal(of({ port: 80, protocol: "TCP" }), md5("web-lb-web-0-10.0.0.1-TCP-80"));
    assert.equal(of({ port: 53, protocol: "UDP", spelling: "udp" }), md5("web-lb-web-0-10.0.0.1-udp-53"));
  });

  test("a Bind's other names are not ambiguous", () => {
    const backend = { kind: "Pod", name: "p", uid: "u", port: tcp } as const;
    const one = otherRecordNames({ kind: "Bind", metadata: meta("a-b") }, "c", backend, "10.0.0.1")?.[0];
    const two = otherRecordNames({ kind: "Bind", metadata: meta("a") }, "b-c", backend, "10.0.0.1")?.[0];
    assert.notEqual(one, two);
  });

  test("long names make labels that are allowed, and differ", () => {
    const [one, two] = ["a", "b"].map((end) => labelValue(`${"long.".repeat(40)}${end}`));
    assert.ok((one ?? "").length <= 63 && /^[\w.-]*\w$/.test(one ?? ""), one);
    assert.notEqual(one, two);
    const labels = recordLabels(group("x".repeat(200)), "lb", "d", { kind: "Pod", name: "p".repeat(253), port: tcp });
    for (const value of Object.values(labels)) assert.ok(value.length <= 63);
  });

  test("a new record has its finalizer and its owner", () => {
    const draft = { name: "n", spec: record().spec };
    const { metadata } = newRecord(group("web"), draft);
    assert.deepEqual(metadata.finalizers, ["lbcf.tkestack.io/deregister-backend"]);
    assert.equal(metadata.ownerReferences[0]?.uid, "uid-web");
  });
});
