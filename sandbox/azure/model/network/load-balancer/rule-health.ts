/**
 * The health of a rule's members: the result of POST …/loadBalancingRules/{rule}/health. The reasons are Azure's.
 *
 *   rule      | admin state | probe result             | state, reason
 *   ----------|-------------|--------------------------|---------------------------------------------------------------
 *   no probe  | any         |                          | Up, Up_Probe_Success
 *   probe     | Down        |                          | Down, Down_Admin
 *             | Up          |                          | Up, Up_Admin
 *             | None        | up, or no data plane     | Up, Up_Probe_Success
 *             |             | down                     | Down, Down_Probe_TcpProbeTimeout or …HttpEndpointUnreachable
 *             |             | none yet                 | Down, NA
 *
 * If no member is up, `AllProbedUp` turns members that are down by their probe into Up_Probe_AllDownIsUp. The data plane
 * runs the probes.
 */
import { childNotFound } from "../../errors.ts";
import { objectsOf, propertiesOf, stringOf, type Json } from "../../json.ts";
import { childId, childrenOf } from "../../lookups.ts";
import { nameOf } from "../../ids.ts";
import type { Action, ActionInput } from "../../resource-type.ts";
import { ownerKeyOf } from "./conflicts.ts";
import { renderLoadBalancer } from "./render.ts";
import { idIn, idsIn } from "./shape.ts";

interface MemberHealth {
  readonly state: "Up" | "Down";
  readonly reason: string;
}

const UP: MemberHealth = { state: "Up", reason: "Up_Probe_Success" };

export function ruleHealth(input: ActionInput, ruleName: string): Action {
  const { state, resource } = input;
  const rule = childrenOf(resource.body, "loadBalancingRules").get(ruleName);
  const ruleId = childId(resource.id, "loadBalancingRules", ruleName);
  if (!rule) throw childNotFound(ruleId);
  const probe = childrenOf(resource.body, "probes").get(nameOf(idIn(rule, "probe") ?? "").toLowerCase());
  const members = membersOf(input, new Set(idsIn(rule, "backendAddressPools"))).map((member) => {
    const nic = idIn(member, "networkInterfaceIPConfiguration");
    const ipAddress = nic === undefined ? stringOf(propertiesOf(member)["ipAddress"]) : addressOf(state, nic);
    const probed = input.probed?.(ruleId, ipAddress ?? "") ?? "up";
    return { ipAddress, nic, health: healthOf(stringOf(propertiesOf(member)["adminState"]), probe, probed) };
  });
  const rest = members.some(({ health }) => health.state === "Up") ? undefined : healthWhereAllAreDown(probe);
  const states = members.map(({ ipAddress, nic, health }) => ({
    ipAddress,
    ...(nic !== undefined && { networkInterfaceIPConfigurationId: { id: nic } }),
    ...(health.reason === "Down_Admin" ? health : (rest ?? health)),
  }));
  const down = states.filter((item) => item.state === "Down").length;
  const result = { up: states.length - down, down, loadBalancerBackendAddresses: states };
  return { name: "GetLoadBalancingRuleHealthOperation", result, answer: "byLocation" };
}

function membersOf({ state, resource }: ActionInput, pools: ReadonlySet<string>): Json[] {
  return objectsOf(propertiesOf(renderLoadBalancer(state, resource))["backendAddressPools"])
    .filter((pool) => pools.has(stringOf(pool["id"]) ?? ""))
    .flatMap((pool) => objectsOf(propertiesOf(pool)["loadBalancerBackendAddresses"]));
}

function healthOf(
  adminState: string | undefined,
  probe: Json | undefined,
  probed: "up" | "down" | "unknown",
): MemberHealth {
  if (probe === undefined) return UP;
  if (adminState === "Down") return { state: "Down", reason: "Down_Admin" };
  if (adminState === "Up") return { state: "Up", reason: "Up_Admin" };
  if (probed === "up") return UP;
  if (probed === "unknown") return { state: "Down", reason: "NA" };
  const isTcp = propertiesOf(probe)["protocol"] === "Tcp";
  return { state: "Down", reason: isTcp ? "Down_Probe_TcpProbeTimeout" : "Down_Probe_HttpEndpointUnreachable" };
}

function healthWhereAllAreDown(probe: Json | undefined): MemberHealth | undefined {
  const takesAll = probe !== undefined && propertiesOf(probe)["noHealthyBackendsBehavior"] === "AllProbedUp";
  return takesAll ? { state: "Up", reason: "Up_Probe_AllDownIsUp" } : undefined;
}

function addressOf(state: ActionInput["state"], configuration: string): string | undefined {
  const references = state.outgoing.get(ownerKeyOf(configuration)) ?? [];
  return references.find((item) => item.kind === "address" && item.from === configuration)?.address;
}
