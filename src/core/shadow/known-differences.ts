/**
 * The differences from the incumbent that can show in Azure, each with the words and the reason of docs/differences.md,
 * and by what it is told. A finding that none of them explains is a defect of one of the two controllers, or another
 * client's write.
 */
import type { ClusterConfig } from "../config/cluster-config.ts";
import { PRIVATE_LINK } from "../intent/annotations/private-link.ts";
import { parseService } from "../intent/parse-service.ts";
import type { ServiceIntent } from "../intent/service-intent.ts";
import { serviceKey, type Service } from "../model/kubernetes.ts";
import { ownPoolName } from "../model/names.ts";
import type { Finding } from "./findings.ts";

/** What surrounds the findings of one change. */
export interface ChangeContext {
  readonly config: ClusterConfig;
  /** The Services of the cluster, those that are being deleted or just went included. */
  readonly services: readonly Service[];
  /** Keys of those that azlb refuses. */
  readonly refused: ReadonlySet<string>;
  /** Keys of those that the change is about. */
  readonly concerned: ReadonlySet<string>;
  /** Azure is as before. */
  readonly isUntouched: boolean;
  /** Names of the Nodes, in lower case. */
  readonly nodes: ReadonlySet<string>;
}

export interface KnownDifference {
  readonly id: string;
  readonly incumbent: string;
  readonly azlb: string;
  readonly why: string;
  readonly explains: (finding: Finding, context: ChangeContext) => boolean;
}

const POOL_ENTRY = /(?:loadBalancerBackendAddresses|backendIPConfigurations|loadBalancerBackendAddressPools)\//i;

/** The first that explains a finding counts: the special ones come before the general ones. */
export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    id: "private-link-asked-wrongly",
    incumbent:
      "`azure-pls-create` on an external Service with floating IP, with pools of IP addresses, on Basic, or with a wrong value in another `azure-pls-*` key: everything else is made first, then the sync fails, and the Service gets no address",
    azlb: "refused before anything is written, with key, value and fix; a Service that is served keeps what it has",
    why: "a refused Service must leave nothing behind",
    explains: ({ kind }, context) => kind === "extra" && some(context, isRefused, asksForPrivateLink),
  },
  {
    id: "refused-leaves-public-ip",
    incumbent: "a refused Service may leave a public IP behind",
    azlb: "everything is read before anything is created",
    why: "it costs money",
    explains: (finding, { refused }) =>
      finding.kind === "extra" && isPublicIP(finding) && refused.has(finding.service ?? ""),
  },
  {
    id: "invalid-value",
    incumbent: "an invalid value is silently ignored or replaced",
    azlb: "the Service is refused if it cannot be served as asked, with key, value and fix; otherwise a Warning",
    why: "the same",
    explains: ({ service }, { refused }) => service !== undefined && refused.has(service),
  },
  {
    id: "private-link-handed-over",
    incumbent: "when the owner of a shared private link service goes, no other Service can change it",
    azlb: "it is handed over to the next Service on the address that asks for one (tag `k8s-azure-owner-service`)",
    why: "it is in use",
    explains: ({ resourceId }) => /\/privateLinkServices\//i.test(resourceId),
  },
  {
    id: "external-to-internal-leaves-rule",
    incumbent: "going from external to internal leaves a rule for the old address",
    azlb: "removed",
    why: "the address may be reassigned to another user",
    explains: (finding, context) => finding.kind === "extra" && isSecurityRule(finding) && some(context, isInternal),
  },
  {
    id: "node-rules-by-service",
    incumbent: "rules for nodes (no floating IP) and for `azure-additional-public-ips` are shared by content",
    azlb: "named after their Service, from its next change on",
    why: "by content alone they could be another cluster's, and could never be removed safely",
    explains: (finding, context) => isSecurityRule(finding) && some(context, opensNodesOrMore),
  },
  {
    id: "old-security-rules",
    incumbent: "rules of releases up to 1.28 stay for ever",
    azlb: "removed with the Service's next write, or with the Service",
    why: "they open ports that no Service asks for",
    explains: ({ kind, path }) =>
      kind === "extra" && /^securityRules\/(?:a[\da-f]{31}|shared)-(?:tcp|udp|sctp)-/i.test(path),
  },
  {
    id: "addresses-of-others",
    incumbent: "removes addresses from its rules that no Service or node of the cluster has",
    azlb: "keeps them; only addresses that a Service has or had are reconciled",
    why: "two clusters on one group would remove each other's",
    explains: (finding) => finding.kind === "missing" && isSecurityRule(finding),
  },
  {
    id: "admin-state",
    incumbent:
      "a node that is tainted out-of-service, or whose Spot eviction is announced, gets new connections until it leaves",
    azlb: "its entries in pools of addresses are `Down` at once, and `None` when the taints go",
    why: "connections to it would fail",
    explains: ({ kind, path }) => kind === "field" && path.endsWith("adminState"),
  },
  {
    id: "foreign-pool-entries",
    incumbent: "pool entries that have no node's address are removed",
    azlb: "removed only if they have a node's name or address, or are in azlb's member list",
    why: "servers of other clients stay",
    explains: ({ kind, path }, { nodes }) =>
      kind === "missing" && POOL_ENTRY.test(path) && !nodes.has(path.split("/").at(-1)?.toLowerCase() ?? ""),
  },
  {
    id: "labels-at-once",
    incumbent: "labels of a Service, of its namespace or of a node count at the next change of the Service",
    azlb: "at once",
    why: "a label is a change as well",
    explains: (_finding, { config, isUntouched }) => selectsByLabel(config) && isUntouched,
  },
  {
    id: "moves-at-once",
    incumbent: "a move that waited for another Service is made at the next change of the Service",
    azlb: "once the other one is gone",
    why: "nothing may wait for a touch",
    explains: (finding, context) =>
      hasSeveral(context.config) && isOfLoadBalancer(finding) && some(context, isGoing) && !isOfGoing(finding, context),
  },
  {
    id: "nodes-join-at-once",
    incumbent: "after the last Service of a load balancer its nodes are in no pool until another Service is synced",
    azlb: "they join the load balancers that are left at once",
    why: "half of the nodes would serve nothing",
    explains: (finding, { config, nodes }) =>
      hasSeveral(config) && finding.kind !== "extra" && POOL_ENTRY.test(finding.path) && isOfNode(finding, nodes),
  },
  {
    id: "own-pool-stays",
    incumbent: "the pool of a deleted `Local` Service stays where other Services are on the load balancer",
    azlb: "goes with the Service's last rule, unless it holds entries of other clients",
    why: "nothing of the Service may be left",
    explains: (finding, context) =>
      hasSeveral(context.config) && finding.kind === "extra" && some(context, isGoing, hasPool(finding.path)),
  },
  {
    id: "excluded-false",
    incumbent:
      'in pools of network interfaces, a node with `node.kubernetes.io/exclude-from-external-load-balancers: "false"` stays out, and joins at a sync after the label is gone',
    azlb: "it joins at once",
    why: "the label says that it is not excluded",
    explains: (finding, { config, isUntouched }) => isNicEntry(finding, config) && !isUntouched,
  },
  {
    id: "managed-at-once",
    incumbent:
      'in pools of network interfaces, a node with `kubernetes.azure.com/managed: "false"` leaves, and joins again, at the next sync of a Service',
    azlb: "at once",
    why: "a label is a change as well",
    explains: (finding, { config }) => isNicEntry(finding, config),
  },
  {
    id: "family-leaves-public-ip",
    incumbent:
      "from two families to one, the other's public IP stays; so does one in a resource group that the annotation no longer names",
    azlb: "released",
    why: "the same",
    explains: (finding) => finding.kind === "extra" && isPublicIP(finding),
  },
  {
    id: "last-frontend-stays",
    incumbent: "an empty load balancer is deleted together with pools and pool entries of other clients",
    azlb: "the last frontend stays, with a Warning, while anything foreign exists",
    why: "the same",
    explains: ({ kind, resourceId, path }) =>
      kind === "missing" && path === "" && /\/loadBalancers\//i.test(resourceId),
  },
];

/** The entry that explains the finding; `undefined`: none does. */
export function explain(finding: Finding, context: ChangeContext): KnownDifference | undefined {
  return KNOWN_DIFFERENCES.find(({ explains }) => explains(finding, context));
}

type Test = (service: Service, context: ChangeContext) => boolean;

/** Whether a Service that the change is about passes all tests. */
function some(context: ChangeContext, ...tests: readonly Test[]): boolean {
  return context.services
    .filter((service) => context.concerned.has(serviceKey(service)))
    .some((service) => tests.every((test) => test(service, context)));
}

const isRefused: Test = (service, { refused }) => refused.has(serviceKey(service));
const isGoing: Test = ({ metadata }) => metadata.deletionTimestamp !== undefined;
const asksForPrivateLink: Test = ({ metadata }) => PRIVATE_LINK.create.key in (metadata.annotations ?? {});
const isInternal: Test = (service, context) => intentOf(service, context)?.scope === "internal";
const opensNodesOrMore: Test = (service, context) => {
  const intent = intentOf(service, context);
  return intent !== undefined && (!intent.floatingIP || intent.additionalPublicIPs.length > 0);
};

function intentOf(service: Service, { config }: ChangeContext): ServiceIntent | undefined {
  const parsed = parseService(service, config);
  return "intent" in parsed ? parsed.intent : undefined;
}

function hasSeveral({ loadBalancers }: ClusterConfig): boolean {
  return loadBalancers.length > 0;
}

/** Labels decide about something. */
function selectsByLabel({ loadBalancers }: ClusterConfig): boolean {
  return loadBalancers.some(
    ({ serviceSelector, namespaceSelector, nodeSelector }) =>
      serviceSelector !== undefined || namespaceSelector !== undefined || nodeSelector !== undefined,
  );
}

/** A load balancer, or a part of one that a Service can move with. */
function isOfLoadBalancer({ resourceId, path }: Finding): boolean {
  return /\/loadBalancers\//i.test(resourceId) && !POOL_ENTRY.test(path);
}

function isOfGoing({ service }: Finding, { services }: ChangeContext): boolean {
  return services.some((one) => one.metadata.deletionTimestamp !== undefined && serviceKey(one) === service);
}

/** The entry is that of a node which the cluster has. */
function isOfNode({ path }: Finding, nodes: ReadonlySet<string>): boolean {
  return path.split("/").some((segment) => nodes.has(segment.toLowerCase()));
}

/** The path is that of a pool which the Service has to itself. */
function hasPool(path: string): Test {
  return (service) =>
    (["IPv4", "IPv6"] as const).some(
      (family) =>
        path.toLowerCase() === `backendAddressPools/${ownPoolName(serviceKey(service), family)}`.toLowerCase(),
    );
}

function isNicEntry({ path }: Finding, { poolType }: ClusterConfig): boolean {
  return poolType === "nodeIPConfiguration" && POOL_ENTRY.test(path);
}

function isPublicIP({ resourceId, path }: Finding): boolean {
  return path === "" && /\/publicIPAddresses\//i.test(resourceId);
}

function isSecurityRule({ path }: Finding): boolean {
  return path.startsWith("securityRules/");
}
