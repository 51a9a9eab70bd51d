import assert from "node:assert/strict";
import { test } from "node:test";
import type { Probed } from "../../contract.ts";
import { codeOf, LB, member, POOL, rule, azureWithLoadBalancer } from "../../test-fixtures.ts";
import type { Wire } from "../../test-azure.ts";

const RULE = `${LB}/loadBalancingRules/web`;

/** The reasons for members `a` (None), `b` (None), `up` and `down` (admin states), by what their probe says. */
function reasons(probed: Probed | undefined, probe: Record<string, unknown> | null, names = "a b up down"): Wire {
  const azure = azureWithLoadBalancer({
    probes: probe === null ? [] : [{ name: "probe", properties: { protocol: "Tcp", port: 80, ...probe } }],
    rules: [rule("web", probe === null ? {} : { probe: { id: `${LB}/probes/probe` } })],
  });
  const states: Record<string, string> = { up: "Up", down: "Down" };
  const members = names
    .split(" ")
    .map((name, at) => member(name, `10.0.0.${at + 10}`, states[name] ? { adminState: states[name] } : {}));
  azure.put(POOL, { properties: { loadBalancerBackendAddresses: members } });
  azure.probed = probed;
  const answer = azure.send("POST", `${RULE}/health`);
  assert.equal(answer.status, 202, "told through its Location");
  const health = azure.follow(answer.headers["location"] ?? "").body;
  const { length } = health.loadBalancerBackendAddresses.filter((item: Wire) => item.state === "Up");
  assert.deepEqual([health.up, health.up + health.down], [length, members.length]);
  return health.loadBalancerBackendAddresses.map((item: Wire) => item.reason);
}

const probeSays =
  (states: Readonly<Record<string, "up" | "down">>): Probed =>
  (ruleId, ip) =>
    ruleId === RULE ? (states[ip] ?? "unknown") : "unknown";

test("admin states come first, then the probe", () => {
  const http = { protocol: "Http", requestPath: "/" };
  const ofProbe = probeSays({ "10.0.0.10": "up", "10.0.0.11": "down", "10.0.0.12": "down", "10.0.0.13": "up" });
  assert.deepEqual(reasons(ofProbe, {}), ["Up_Probe_Success", "Down_Probe_TcpProbeTimeout", "Up_Admin", "Down_Admin"]);
  assert.equal(reasons(ofProbe, http)[1], "Down_Probe_HttpEndpointUnreachable");
  assert.equal(reasons(probeSays({}), {})[0], "NA", "not probed yet");
});

test("without a data plane, or without a probe, members are up", () => {
  assert.deepEqual(reasons(undefined, {}), ["Up_Probe_Success", "Up_Probe_Success", "Up_Admin", "Down_Admin"]);
  assert.deepEqual(new Set(reasons(probeSays({}), null)), new Set(["Up_Probe_Success"]));
});

test("all members down can mean all up, but for those that are Down", () => {
  const allDown = probeSays({ "10.0.0.10": "down", "10.0.0.11": "down" });
  const behaviour = { noHealthyBackendsBehavior: "AllProbedUp" };
  assert.deepEqual(reasons(allDown, behaviour, "a b down"), [
    "Up_Probe_AllDownIsUp",
    "Up_Probe_AllDownIsUp",
    "Down_Admin",
  ]);
  assert.equal(reasons(allDown, {}, "a b down")[0], "Down_Probe_TcpProbeTimeout");
});

test("there is no health of a rule that is not there", () => {
  const answer = azureWithLoadBalancer().send("POST", `${RULE}/health`);
  assert.deepEqual([answer.status, codeOf(answer)], [404, "NotFound"]);
});
