import assert from "node:assert/strict";
import { test } from "node:test";

import { aNode } from "../../../test/support/core-world.ts";
import { findingsOf, probesView, renderProbes } from "./probe-findings.ts";

const RULE = { id: "/rule", loadBalancer: "kubernetes", protocol: "TCP", port: 80, probe: "TCP :30080" };
const NODES = ["10.240.0.4", "10.240.0.5", "10.240.0.6"].map((ip, at) => aNode(`node-${at}`, [ip]));

function told(...members: readonly (readonly [ip: string, state: string, reason: string])[]): string {
  const answer = {
    loadBalancerBackendAddresses: members.map(([ipAddress, state, reason]) => ({ ipAddress, state, reason })),
  };
  return renderProbes(probesView([findingsOf(RULE, answer, NODES)])).join("\n");
}

test("those that are down are named with Azure's reason; a drained member was not asked", () => {
  assert.equal(told(["10.240.0.4", "Up", "Up_Probe_Success"]), "probed      80/TCP by TCP :30080: 1 of 1 up");
  assert.equal(
    told(
      ["10.240.0.4", "Up", "Up_Probe_Success"],
      ["10.240.0.5", "Down", "Down_Probe_TcpProbeTimeout"],
      ["10.240.0.6", "Down", "Down_Admin"],
    ),
    "probed      80/TCP by TCP :30080: 1 of 2 up; down: node-1 (Down_Probe_TcpProbeTimeout)",
  );
});

test("where none is up, that is the trouble; where all are drained it is not the probe's", () => {
  assert.match(
    told(["10.240.0.4", "Down", "Down_Probe_TcpProbeTimeout"]),
    /^trouble +no member answers the probe TCP :30080, so nothing that comes to 80\/TCP is passed on\nprobed /,
  );
  assert.doesNotMatch(told(["10.240.0.4", "Down", "Down_Admin"]), /trouble/);
});

test("what is not known is told as that, and is no trouble", () => {
  for (const answer of [new Error("no right"), undefined, {}, { loadBalancerBackendAddresses: 7 }]) {
    const lines = renderProbes(probesView([findingsOf(RULE, answer, NODES)]));
    assert.match(lines.join("\n"), /^probed +80\/TCP by TCP :30080: not known: \S/);
  }
});
