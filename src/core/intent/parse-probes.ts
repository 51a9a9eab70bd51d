/**
 * Which health probe the rule of a port gets. The first line that applies:
 *
 *   the port                                       | its probe
 *   -----------------------------------------------|--------------------------------------------------
 *   has `port_N_no_probe_rule`                     | none
 *   config shares a probe, policy is not Local     | the cluster's shared probe
 *   is UDP or SCTP                                 | that of a Local Service, else none
 *   policy is Local, no `port_N_health-probe_port` | HTTP on `healthCheckNodePort`, one for all ports; not behind a
 *                                                  | private link service with the proxy protocol, which it lacks
 *   is TCP                                         | its own
 *
 * A high-availability rule takes the first probe that any port has, so there `no_probe_rule` means nothing.
 */
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { Service, ServicePort } from "../model/kubernetes.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import { annotationKey, shortened } from "./annotation-reader.ts";
import { PORT_KEYS, PROBES } from "./annotations/probes.ts";
import { speaksProxyProtocol } from "./parse-private-link.ts";
import type { PortIntent, ProbeIntent } from "./service-intent.ts";

const LOCAL_PATH = "/healthz";
const PROTOCOLS = ["Tcp", "Http", "Https"] as const;
/** Azure gives up on probes that would take longer to notice a dead node. */
const LONGEST_SECONDS = 120;

type Probe = PortIntent["probe"];

export class ProbeParser {
  readonly #service: Service;
  readonly #config: ClusterConfig;
  readonly #read: AnnotationReader;
  readonly #isLocal: boolean;
  readonly #local: ProbeIntent | undefined;
  #called: ReadonlyMap<string, ServicePort> | undefined;
  #isWarned = false;

  constructor(service: Service, config: ClusterConfig, read: AnnotationReader) {
    this.#service = service;
    this.#config = config;
    this.#read = read;
    this.#isLocal = service.spec.externalTrafficPolicy === "Local";
    this.#local = this.#isLocal && !speaksProxyProtocol(read) ? this.#localProbe() : undefined;
  }

  probeOf(port: ServicePort, isHighAvailability: boolean): Probe {
    if (!isHighAvailability && this.#read.isOn(PORT_KEYS.noProbe, port.port)) return { kind: "none" };
    if (this.#config.sharedProbe !== undefined && !this.#isLocal) {
      this.#warnOfSharedProbe();
      return { kind: "shared" };
    }
    const local = this.#local === undefined ? undefined : ({ kind: "local", probe: this.#local } as const);
    if (port.protocol !== "TCP") return local ?? { kind: "none" };
    if (local !== undefined && (isHighAvailability || this.#read.get(PORT_KEYS.probePort, port.port) === undefined)) {
      return local;
    }
    return { kind: "own", probe: this.#ownProbe(port) };
  }

  #localProbe(): ProbeIntent {
    const port = this.#service.spec.healthCheckNodePort ?? 0;
    if (port === 0) {
      this.#read.reject(
        "InvalidService",
        "spec.healthCheckNodePort is missing, though spec.externalTrafficPolicy is Local: set one or the other",
      );
    }
    return { protocol: "Http", port, path: LOCAL_PATH, ...this.#timing(port), ...this.#whereNoneIsHealthy() };
  }

  #ownProbe(port: ServicePort): ProbeIntent {
    const protocol = this.#protocolOf(port);
    const timing = { ...this.#timing(port.port), ...this.#whereNoneIsHealthy() };
    const target = this.#targetOf(port);
    if (protocol === "Tcp") return { protocol, port: target, ...timing };
    const path = this.#read.get(PORT_KEYS.requestPath, port.port) ?? this.#read.get(PROBES.requestPath) ?? "/";
    return { protocol, port: target, path, ...timing };
  }

  /** The port's annotation, `appProtocol`, the annotation for all; an `appProtocol` we can't probe is probed by TCP. */
  #protocolOf(port: ServicePort): ProbeIntent["protocol"] {
    const protocol = this.#read.get(PORT_KEYS.protocol, port.port) ?? this.#appProtocolOf(port);
    const chosen = protocol ?? this.#read.get(PROBES.protocol) ?? "Tcp";
    if (chosen !== "Https" || this.#config.sku === "standard") return chosen;
    this.#read.warn("AnnotationHasNoEffect", `port ${port.port}: Basic has no Https probes, it is probed by Tcp`);
    return "Tcp";
  }

  #appProtocolOf(port: ServicePort): ProbeIntent["protocol"] | undefined {
    if (port.appProtocol === undefined) return undefined;
    const known = PROTOCOLS.find((protocol) => protocol.toLowerCase() === port.appProtocol?.trim().toLowerCase());
    const forAll = this.#read.raw(PROBES.protocol);
    if (known === undefined && forAll !== undefined) {
      this.#read.warn(
        "AnnotationHasNoEffect",
        `port ${port.port} is probed by Tcp, as its appProtocol "${port.appProtocol}" is none of Tcp, Http, Https: ` +
          `set ${annotationKey(PORT_KEYS.protocol, port.port)}: "${shortened(forAll)}" if that is meant`,
      );
    }
    return known ?? "Tcp";
  }

  #whereNoneIsHealthy(): Pick<ProbeIntent, "noHealthyBackends"> {
    const noHealthyBackends = this.#read.get(PROBES.noHealthyBackends);
    if (noHealthyBackends === undefined) return {};
    if (this.#config.sku === "standard") return { noHealthyBackends };
    this.#warnOnce("only Standard has it");
    return {};
  }

  #warnOfSharedProbe(): void {
    if (this.#read.get(PROBES.noHealthyBackends) !== undefined)
      this.#warnOnce("the probe is that of all Services (clusterServiceLoadBalancerHealthProbeMode: shared)");
  }

  #warnOnce(why: string): void {
    if (!this.#isWarned) this.#read.warnOfNoEffect(PROBES.noHealthyBackends, why);
    this.#isWarned = true;
  }

  #timing(port: number): Pick<ProbeIntent, "intervalSeconds" | "threshold"> {
    const intervalSeconds = this.#read.get(PORT_KEYS.interval, port) ?? this.#read.get(PROBES.interval) ?? 5;
    const threshold = this.#read.get(PORT_KEYS.number, port) ?? this.#read.get(PROBES.number) ?? 2;
    if (intervalSeconds * threshold >= LONGEST_SECONDS) {
      this.#read.reject(
        "InvalidAnnotation",
        `port ${port}: ${threshold} probes every ${intervalSeconds} s take ${LONGEST_SECONDS} s or more: lower ` +
          `${PROBES.interval.key} or ${PROBES.number.key} (or the port's own)`,
      );
    }
    return { intervalSeconds, threshold };
  }

  /** The port that is probed on the nodes. */
  #targetOf(port: ServicePort): number {
    const written = this.#read.get(PORT_KEYS.probePort, port.port);
    if (written === undefined) return this.#nodePortOf(port);
    const named = this.#portCalled(written);
    if (named !== undefined) return this.#nodePortOf(named);
    const number = /^\d+$/.test(written) ? Number(written) : 0;
    if (number >= 1 && number <= 65_535) return number;
    const allowed = "the name or number of a port of the Service, or a number from 1 to 65535";
    this.#read.reject(
      "InvalidAnnotation",
      `${annotationKey(PORT_KEYS.probePort, port.port)}: "${written}" is not ${allowed}`,
    );
    return 0;
  }

  /** The first port of that name or number. */
  #portCalled(written: string): ServicePort | undefined {
    this.#called ??= portsByCall(this.#service.spec.ports);
    const [byName, byNumber] = [this.#called.get(`name ${written.toLowerCase()}`), this.#called.get(written)];
    if (byName === undefined || byNumber === undefined) return byName ?? byNumber;
    const { ports } = this.#service.spec;
    return ports.indexOf(byName) < ports.indexOf(byNumber) ? byName : byNumber;
  }

  #nodePortOf(port: ServicePort): number {
    if (port.nodePort !== undefined && port.nodePort !== 0) return port.nodePort;
    this.#read.reject(
      "InvalidService",
      `port ${port.port} has no nodePort to probe: set spec.allocateLoadBalancerNodePorts to true, give it a nodePort, ` +
        `or set ${annotationKey(PORT_KEYS.noProbe, port.port)}: "true"`,
    );
    return 0;
  }
}

/** By number, and by name in lower case after `name `; of several the first. */
function portsByCall(ports: readonly ServicePort[]): ReadonlyMap<string, ServicePort> {
  const called = ports
    .toReversed()
    .flatMap((port): [string, ServicePort][] => [
      [String(port.port), port],
      ...(port.name === undefined ? [] : [[`name ${port.name.toLowerCase()}`, port] satisfies [string, ServicePort]]),
    ]);
  return new Map(called);
}
