/**
 * What a Service asks for, free of Kubernetes' and the annotations' spelling. `parse-service.ts` makes it;
 * everything after it decides on intents only.
 */
import type { Family } from "../model/arm.ts";
import type { Protocol } from "../model/kubernetes.ts";
import type { Owner } from "../outcome.ts";

export interface ProbeIntent {
  readonly protocol: "Tcp" | "Http" | "Https";
  readonly port: number;
  readonly path?: string;
  readonly intervalSeconds: number;
  readonly threshold: number;
  /** What happens where no node passes it; absent: left as it is. */
  readonly noHealthyBackends?: "AllProbedUp" | "AllProbedDown";
}

export interface PortIntent {
  readonly protocol: Protocol;
  readonly port: number;
  readonly nodePort: number;
  /** False for `port_N_no_lb_rule`: the security group still opens it. */
  readonly rule: boolean;
  /** Which probe the rule names: its own, the one all ports of a Local Service share, the cluster's, or none. */
  readonly probe:
    | { readonly kind: "own"; readonly probe: ProbeIntent }
    | { readonly kind: "local"; readonly probe: ProbeIntent }
    | { readonly kind: "shared" }
    | { readonly kind: "none" };
}

/** How the public address of one family is found. */
export type PublicIPIntent =
  | { readonly kind: "named"; readonly name: string }
  | { readonly kind: "pinned"; readonly address: string }
  | { readonly kind: "generated"; readonly prefixId?: string };

/** Who may reach the Service, as the security group states it. */
export interface AccessIntent {
  /** Aggregated CIDRs by family. */
  readonly ranges: Readonly<Record<Family, readonly string[]>>;
  readonly serviceTags: readonly string[];
  readonly allowFromInternet: boolean;
  /** A deny-all rule stands behind the allow rules. */
  readonly denyOthers: boolean;
  /** `azure-disable-load-balancer-nsg-rule`: clean what is there, add nothing. */
  readonly unmanaged: boolean;
  /** `azure-shared-securityrule: "false"`: rules of its own instead of rules shared by content. */
  readonly ownRules: boolean;
  /** CIDRs by family that rules name instead of the nodes' addresses; empty: the nodes'. */
  readonly destinations: Readonly<Record<Family, readonly string[]>>;
}

/** The private link service on the Service's IPv4 frontend. */
export interface PrivateLinkIntent {
  /** `undefined`: that of the one that is there, else a generated one. */
  readonly name: string | undefined;
  readonly resourceGroup: string;
  /** Name of the subnet that `addresses` are taken from. */
  readonly subnet: string;
  /** How many addresses; those that Azure chooses included. */
  readonly addressCount: number;
  /** The first is the primary one. */
  readonly addresses: readonly string[];
  readonly fqdns: readonly string[];
  readonly proxyProtocol: boolean;
  /** Subscriptions; `*` for all. */
  readonly visibility: readonly string[];
  readonly autoApproval: readonly string[];
  /** The annotations that say how it should be, by their keys: a Service that shares another's may have none. */
  readonly details: readonly string[];
}

export type DriftPolicy = "report" | "enforce" | "ignore";

export interface ServiceIntent {
  readonly owner: Owner;
  readonly scope: "internal" | "external";
  /** In the order of `spec.ipFamilies`; never empty. */
  readonly families: readonly Family[];
  /** The subnet annotation (internal only); part of the frontend's and the rules' names. */
  readonly subnet: string | undefined;
  readonly ports: readonly PortIntent[];
  readonly highAvailabilityPorts: boolean;
  readonly floatingIP: boolean;
  readonly tcpReset: boolean;
  readonly idleTimeoutMinutes: number;
  readonly distribution: "Default" | "SourceIP" | "SourceIPProtocol";
  /** Of the frontends that it owns; what is absent is left as it is. */
  readonly frontendOptions: {
    readonly connectionTracking?: boolean;
    /** Id of a frontend of a gateway load balancer; `""`: none. */
    readonly gateway?: string;
  };
  /** Basic only: which VM set's load balancer serves it. */
  readonly vmSets:
    | { readonly kind: "primary" }
    | { readonly kind: "auto" }
    | { readonly kind: "named"; readonly names: readonly string[] };
  /** With several Standard load balancers: the names of those that it may be placed on; absent: any. */
  readonly loadBalancers: readonly string[] | undefined;
  /** Its rules send to a pool of its own, of the nodes with its endpoints, instead of the cluster's. */
  readonly hasOwnPool: boolean;
  readonly pinned: Readonly<Partial<Record<Family, string>>>;
  readonly publicIPs: Readonly<Partial<Record<Family, PublicIPIntent>>>;
  readonly publicIPResourceGroup: string;
  /** `undefined`: leave as it is; `""`: remove. */
  readonly dnsLabel: string | undefined;
  readonly publicIPTags: Readonly<Record<string, string>>;
  readonly ipTags: readonly { readonly type: string; readonly value: string }[] | undefined;
  readonly additionalPublicIPs: readonly string[];
  readonly access: AccessIntent;
  /** `undefined`: none is asked for; one that is there stays until its frontend goes. */
  readonly privateLink: PrivateLinkIntent | undefined;
  /** `undefined`: the controller's default. */
  readonly driftPolicy: DriftPolicy | undefined;
}
