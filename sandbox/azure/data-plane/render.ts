/** Renders a frontend for the control endpoint. */
import { nameOf } from "../model/ids.ts";
import { eligibleMembers, type HealthOf } from "./eligible-members.ts";
import type { FrontendCounts, MemberCounts } from "./flow-table.ts";
import type { AdminState, Distribution, Member, Transport } from "./forwarding.ts";
import type { FrontendListener } from "./flow-acceptor.ts";
import { LOOPBACK } from "../../shared/loopback.ts";
import type { Health } from "./probe-state.ts";

export interface MemberView extends MemberCounts {
  readonly ip: string;
  readonly name: string | null;
  readonly node: string | null;
  /** `false`: it has left the pool; only its counters remain. */
  readonly inPool: boolean;
  readonly adminState: AdminState | null;
  /** `null` without a probe. */
  readonly probe: Health | null;
  readonly eligible: boolean;
  /** Its loopback port; `null` where the member table has none. */
  readonly target: number | null;
}

export interface FrontendView {
  readonly frontend: string;
  readonly address: string;
  readonly port: number;
  readonly protocol: Transport;
  /** Where a client connects to reach it; port 0 if it could not be opened. */
  readonly listener: { readonly host: string; readonly port: number };
  readonly loadBalancer: string;
  readonly rule: string;
  readonly backendPort: number;
  readonly floatingIp: boolean;
  readonly distribution: Distribution;
  readonly total: number;
  readonly open: number;
  readonly refused: FrontendCounts["refused"];
  readonly members: readonly MemberView[];
}

export interface RenderContext {
  readonly healthOf: HealthOf;
  readonly targetOf: (member: Member) => number | undefined;
}

export function renderFrontend(
  { frontend, port }: FrontendListener,
  counts: FrontendCounts,
  context: RenderContext,
): FrontendView {
  const { rule } = frontend;
  return {
    frontend: frontend.key,
    address: rule.address,
    port: frontend.port,
    protocol: frontend.transport,
    listener: { host: LOOPBACK, port },
    loadBalancer: nameOf(rule.loadBalancer),
    rule: nameOf(rule.id),
    backendPort: frontend.backendPort,
    floatingIp: rule.floatingIp,
    distribution: rule.distribution,
    total: counts.total,
    open: counts.open,
    refused: counts.refused,
    members: renderMembers(frontend.rule, counts, context),
  };
}

const NOTHING: MemberCounts = { total: 0, open: 0, refused: 0, openedWhileDown: 0 };

function renderMembers(
  rule: FrontendListener["frontend"]["rule"],
  counts: FrontendCounts,
  { healthOf, targetOf }: RenderContext,
): MemberView[] {
  const eligible = new Set(eligibleMembers(rule, healthOf));
  const present = rule.members.map((member) => ({
    ip: member.ip,
    name: member.name,
    node: member.node ?? null,
    inPool: true,
    adminState: member.adminState,
    probe: rule.probe === undefined ? null : healthOf(member),
    eligible: eligible.has(member),
    target: targetOf(member) ?? null,
    ...(counts.members.get(member.ip) ?? NOTHING),
  }));
  const left = [...counts.members].filter(([ip]) => !rule.members.some((member) => member.ip === ip));
  const unknown = {
    name: null,
    node: null,
    inPool: false,
    adminState: null,
    probe: null,
    eligible: false,
    target: null,
  };
  return [...present, ...left.map(([ip, own]) => ({ ip, ...unknown, ...own }))];
}
