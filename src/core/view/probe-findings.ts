/**
 * What Azure's probes have found of a Service's members. Azure tells it of one rule at a time, and only when it is asked: this says
 * which rules to ask about, and what an answer means. Pure.
 */
import type { LoadBalancer } from "../model/arm.ts";
import { nameOfId } from "../model/ids.ts";
import type { Node, Service } from "../model/kubernetes.ts";
import { baseName } from "../model/names.ts";
import { loadBalancerIndex, loadBalancersWith, partsOf } from "../resources/load-balancer/load-balancer-index.ts";
import { internalAddresses } from "./node-list.ts";
import { line } from "./render-detail.ts";

export interface ProbedRule {
  /** In Azure. */
  readonly id: string;
  readonly loadBalancer: string;
  readonly protocol: string;
  /** 0: all ports. */
  readonly port: number;
  /** As in `HTTP :30256/healthz`. */
  readonly probe: string;
}

export interface ProbeFindings extends Omit<ProbedRule, "id"> {
  /** Why it is not known. */
  readonly problem?: string;
  readonly up: number;
  readonly down: number;
  /** Those that are down, in Azure's words why; the first hundred. */
  readonly notUp: readonly { readonly name: string; readonly reason: string }[];
}

/** As the API tells it. */
export interface ProbesView {
  readonly items: readonly (ProbeFindings & { readonly found: string })[];
  /** Why no packet gets through, where the probes say so. */
  readonly trouble: readonly string[];
}

/** Of a Service that has many ports, the first. */
const MOST_RULES = 20;
const MOST_NOT_UP = 100;

export function probedRules(loadBalancers: readonly LoadBalancer[], service: Service): ProbedRule[] {
  const base = baseName(service.metadata.uid).toLowerCase();
  const found = loadBalancersWith(loadBalancers, base).flatMap((loadBalancer) => {
    const index = loadBalancerIndex(loadBalancer);
    return partsOf(index, base).rules.flatMap(({ name, properties }): ProbedRule[] => {
      const { probe: reference, protocol, frontendPort: port } = properties;
      const probe = reference && index.probes.get(nameOfId(reference.id).toLowerCase())?.properties;
      if (probe === undefined) return [];
      return [
        {
          id: `${loadBalancer.id}/loadBalancingRules/${name}`,
          loadBalancer: loadBalancer.name,
          protocol: protocol.toUpperCase(),
          port,
          probe: `${probe.protocol.toUpperCase()} :${probe.port}${probe.requestPath ?? ""}`,
        },
      ];
    });
  });
  return found.slice(0, MOST_RULES);
}

interface WireMember {
  readonly ipAddress?: unknown;
  readonly state?: unknown;
  readonly reason?: unknown;
}

/** `answer`: of Azure, or an Error. A member that is `Down` by its admin state is not asked by the probe, and not counted. */
export function findingsOf(probed: ProbedRule, answer: unknown, nodes: readonly Node[]): ProbeFindings {
  const { loadBalancer, protocol, port, probe } = probed;
  const rule = { loadBalancer, protocol, port, probe };
  if (answer instanceof Error) return { ...rule, problem: answer.message, up: 0, down: 0, notUp: [] };
  const listed = (answer as { loadBalancerBackendAddresses?: unknown } | undefined)?.loadBalancerBackendAddresses;
  if (!Array.isArray(listed)) return { ...rule, problem: "Azure's answer lists no members", up: 0, down: 0, notUp: [] };
  const names = new Map(
    nodes.flatMap((node) => internalAddresses(node).map((ip) => [ip, node.metadata.name] as const)),
  );
  const members = (listed as readonly WireMember[]).map(({ ipAddress = "", state, reason = "" }) => ({
    name: names.get(String(ipAddress)) ?? String(ipAddress),
    isUp: state === "Up",
    reason: String(reason),
  }));
  const asked = members.filter(({ reason }) => reason !== "Down_Admin");
  const down = asked.filter(({ isUp }) => !isUp);
  const notUp = down.slice(0, MOST_NOT_UP).map(({ name, reason }) => ({ name, reason }));
  return { ...rule, up: asked.length - down.length, down: down.length, notUp };
}

export function probesView(findings: readonly ProbeFindings[]): ProbesView {
  return { items: findings.map((one) => ({ ...one, found: foundText(one) })), trouble: troubleOf(findings) };
}

function troubleOf(findings: readonly ProbeFindings[]): string[] {
  return findings
    .filter(({ up, down }) => up === 0 && down > 0)
    .map(
      ({ port, protocol, probe }) =>
        `no member answers the probe ${probe}, so nothing that comes to ${portText(port, protocol)} is passed on`,
    );
}

export function renderProbes({ items, trouble }: ProbesView): string[] {
  return [
    ...trouble.map((text) => line("trouble", text)),
    ...items.map(({ port, protocol, probe, found }) =>
      line("probed", `${portText(port, protocol)} by ${probe}: ${found}`),
    ),
  ];
}

const MOST_NAMED = 5;

function foundText({ problem, up, down, notUp }: ProbeFindings): string {
  if (problem !== undefined) return `not known: ${problem}`;
  if (down === 0) return `${up} of ${up} up`;
  const named = notUp.slice(0, MOST_NAMED).map(({ name, reason }) => (reason === "" ? name : `${name} (${reason})`));
  const more = down > named.length ? ` and ${down - named.length} more` : "";
  return `${up} of ${up + down} up; down: ${named.join(", ")}${more}`;
}

function portText(port: number, protocol: string): string {
  return port === 0 ? "any port" : `${port}/${protocol}`;
}
