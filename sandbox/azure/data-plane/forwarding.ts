/** The data plane's types: rules, frontends, members and flows. `read-forwarding.ts` derives them from ARM resources. */

export type Transport = "Tcp" | "Udp";
export type AdminState = "None" | "Up" | "Down";
/** The hashed fields: the five-tuple; both addresses; both addresses and the protocol. */
export type Distribution = "Default" | "SourceIP" | "SourceIPProtocol";

/** The keys of the NIC (or scale-set instance) and subnet that hold a member's address, where known. */
export interface Attachment {
  readonly nic: string | undefined;
  readonly subnet: string | undefined;
}

export interface Member {
  /** Id of the pool that it is in. */
  readonly pool: string;
  /** Its name in the pool. */
  readonly name: string;
  readonly ip: string;
  /** Name of the machine that has the address, if any resource has it. */
  readonly node: string | undefined;
  readonly adminState: AdminState;
  readonly attachment: Attachment;
}

export interface Probe {
  readonly id: string;
  readonly protocol: "Tcp" | "Http" | "Https";
  readonly port: number;
  readonly path: string;
  readonly intervalMs: number;
  /** Consecutive results that change the health. */
  readonly threshold: number;
  /** `noHealthyBackendsBehavior: AllProbedUp`. */
  readonly allDownMeansUp: boolean;
}

export interface ForwardingRule {
  readonly id: string;
  readonly loadBalancer: string;
  readonly sku: "Basic" | "Standard";
  readonly isInternal: boolean;
  readonly address: string;
  /** `All` stands for both transports; with port 0, HA ports, on every port. */
  readonly protocol: Transport | "All";
  readonly frontendPort: number;
  readonly backendPort: number;
  readonly floatingIp: boolean;
  readonly distribution: Distribution;
  readonly idleTimeoutMs: number;
  readonly tcpReset: boolean;
  readonly probe: Probe | undefined;
  readonly members: readonly Member[];
}

/** One address, port and transport that clients can reach, and the rule behind it. */
export interface Frontend {
  /** `203.0.113.7:80/tcp`. */
  readonly key: string;
  readonly transport: Transport;
  readonly port: number;
  readonly backendPort: number;
  readonly rule: ForwardingRule;
}

/** A new flow as the network sees it. */
export interface Flow {
  readonly transport: Transport;
  readonly sourceAddress: string;
  readonly sourcePort: number;
  readonly destinationAddress: string;
  readonly destinationPort: number;
}

export function frontendKey(address: string, port: number, transport: Transport): string {
  return `${address.includes(":") ? `[${address}]` : address}:${port}/${transport.toLowerCase()}`;
}

/**
 * The frontends of all rules. An HA-ports rule cannot listen on every port, so it listens on the ports that the member
 * table names, unless another rule uses the port on the same address.
 */
export function frontendsOf(rules: readonly ForwardingRule[], namedPorts: readonly number[]): Map<string, Frontend> {
  const frontends = new Map<string, Frontend>();
  const add = (rule: ForwardingRule, transport: Transport, port: number, backendPort: number): void => {
    const key = frontendKey(rule.address, port, transport);
    frontends.set(key, { key, transport, port, backendPort, rule });
  };
  for (const rule of rules) {
    if (!isHaPorts(rule)) continue;
    for (const port of namedPorts) for (const transport of transportsOf(rule)) add(rule, transport, port, port);
  }
  for (const rule of rules) {
    if (isHaPorts(rule)) continue;
    for (const transport of transportsOf(rule)) add(rule, transport, rule.frontendPort, rule.backendPort);
  }
  return frontends;
}

function isHaPorts(rule: ForwardingRule): boolean {
  return rule.protocol === "All" && rule.frontendPort === 0;
}

function transportsOf({ protocol }: ForwardingRule): readonly Transport[] {
  return protocol === "All" ? ["Tcp", "Udp"] : [protocol];
}
