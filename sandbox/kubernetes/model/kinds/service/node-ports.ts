/** Allocates node ports and the health-check port: checks the requested ones, draws the others. */
import type { KubeObject } from "../../contract.ts";
import type { Allocated, DecisionContext } from "../../resource.ts";
import { FIRST_NODE_PORT, freeNodePort, LAST_NODE_PORT } from "../../service-ranges.ts";
import { type Cause, invalidValue, required } from "../../status-error.ts";
import { needsHealthPort, type ServicePort, type ServiceSpec, specOf, wantsNodePorts, withSpec } from "./spec.ts";

export function allocateNodePorts(service: KubeObject, context: DecisionContext): Allocated {
  const spec = specOf(service);
  const isTaken = takenByOthers(service, context);
  const causes = (spec.ports ?? []).flatMap(({ nodePort, protocol }, index) =>
    nodePort === undefined ? [] : problems(`spec.ports[${index}].nodePort`, nodePort, isTaken(nodePort, protocol)),
  );
  if (causes.length > 0 || !wantsNodePorts(spec)) return { object: service, causes };
  const ports: ServicePort[] = [...(spec.ports ?? [])];
  for (const [index, port] of ports.entries()) {
    if (port.nodePort !== undefined) continue;
    const own = { ...spec, ports };
    const nodePort = sharedNodePort(ports, port, isTaken) ?? drawn(own, port, isTaken, context);
    if (nodePort === undefined)
      return { object: service, causes: [required("spec.ports", "no free node port is left")] };
    ports[index] = { ...port, nodePort };
  }
  return { object: ports.length === 0 ? service : withSpec(service, { ports }), causes: [] };
}

type Taken = (port: number, protocol?: string) => boolean;

function takenByOthers(service: KubeObject, { state }: DecisionContext): Taken {
  return (port, protocol = "TCP") => {
    const holder = state.indexes.nodePorts.get(`${port}/${protocol}`);
    return holder !== undefined && holder !== service.metadata.uid;
  };
}

/** A port that appears in two protocols shares its node port where possible. */
function sharedNodePort(ports: readonly ServicePort[], port: ServicePort, isTaken: Taken): number | undefined {
  const twin = ports.find((other) => other.port === port.port && other.nodePort !== undefined)?.nodePort;
  return twin === undefined || isTaken(twin, port.protocol) ? undefined : twin;
}

function drawn(spec: ServiceSpec, port: ServicePort, isTaken: Taken, context: DecisionContext): number | undefined {
  const own = new Set([...portsOf(spec), spec.healthCheckNodePort]);
  return freeNodePort(
    (candidate) => own.has(candidate) || isTaken(candidate, port.protocol) || isTaken(candidate),
    context.draws,
  );
}

function portsOf({ ports = [] }: ServiceSpec): (number | undefined)[] {
  return ports.map((port) => port.nodePort);
}

function problems(field: string, port: number, taken: boolean): Cause[] {
  if (port < FIRST_NODE_PORT || port > LAST_NODE_PORT) {
    const range = `${FIRST_NODE_PORT}-${LAST_NODE_PORT}`;
    return [invalidValue(field, port, `provided port is not in the valid range. The range of valid ports is ${range}`)];
  }
  return taken ? [invalidValue(field, port, "provided port is already allocated")] : [];
}

export function allocateHealthPort(service: KubeObject, context: DecisionContext): Allocated {
  const spec = specOf(service);
  if (!needsHealthPort(spec)) return { object: service, causes: [] };
  const field = "spec.healthCheckNodePort";
  const isTaken = takenByOthers(service, context);
  const own = new Set(portsOf(spec));
  const given = spec.healthCheckNodePort;
  if (given !== undefined) {
    return { object: service, causes: problems(field, given, own.has(given) || isTaken(given)) };
  }
  const free = freeNodePort((port) => own.has(port) || isTaken(port), context.draws);
  const causes = free === undefined ? [required(field, "no free node port is left")] : [];
  return { object: withSpec(service, { healthCheckNodePort: free }), causes };
}
