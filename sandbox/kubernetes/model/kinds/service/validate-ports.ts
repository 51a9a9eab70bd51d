/** Validates the ports of a Service. */
import { asString } from "../../json.ts";
import { duplicate, forbiddenField, invalidValue, oneOf, required, type Cause } from "../../status-error.ts";
import { labelProblems, qualifiedNameProblems } from "../metadata.ts";
import { isHeadless, mayHaveNodePorts, type ServicePort, type ServiceSpec } from "./spec.ts";

const PROTOCOLS = ["SCTP", "TCP", "UDP"];

export function validatePorts(spec: ServiceSpec): Cause[] {
  const ports = spec.ports ?? [];
  if (ports.length === 0 && spec.type !== "ExternalName" && !isHeadless(spec)) return [required("spec.ports")];
  return [...ports.flatMap((port, index) => validatePort(spec, port, index)), ...duplicatePorts(ports)];
}

function validatePort(spec: ServiceSpec, port: ServicePort, index: number): Cause[] {
  const at = `spec.ports[${index}]`;
  const causes: Cause[] = [];
  const name = asString(port.name);
  if (name === "" && (spec.ports?.length ?? 0) > 1) causes.push(required(`${at}.name`));
  if (name !== "") causes.push(...labelProblems(name).map((problem) => invalidValue(`${at}.name`, name, problem)));
  causes.push(...portNumberProblems(`${at}.port`, port.port ?? 0));
  causes.push(...oneOf(`${at}.protocol`, port.protocol, PROTOCOLS));
  if (typeof port.targetPort === "number") causes.push(...portNumberProblems(`${at}.targetPort`, port.targetPort));
  else if (port.targetPort !== undefined) causes.push(...portNameProblems(`${at}.targetPort`, port.targetPort));
  if (port.appProtocol !== undefined) {
    const problems = qualifiedNameProblems(port.appProtocol);
    causes.push(...problems.map((problem) => invalidValue(`${at}.appProtocol`, port.appProtocol, problem)));
  }
  if (port.nodePort !== undefined && !mayHaveNodePorts(spec)) {
    causes.push(forbiddenField(`${at}.nodePort`, `may not be used when \`type\` is '${spec.type}'`));
  }
  return causes;
}

function portNumberProblems(field: string, port: number): Cause[] {
  return port >= 1 && port <= 65_535 ? [] : [invalidValue(field, port, "must be between 1 and 65535, inclusive")];
}

function portNameProblems(field: string, name: string): Cause[] {
  if (/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name) && name.length <= 15 && /[a-z]/.test(name) && !name.includes("--")) {
    return [];
  }
  return [
    invalidValue(field, name, "must be a lower-case port name of at most 15 characters with at least one letter"),
  ];
}

function duplicatePorts(ports: readonly ServicePort[]): Cause[] {
  const names = new Set<string>();
  const numbers = new Set<string>();
  const nodePorts = new Set<string>();
  return ports.flatMap((port, index) => {
    const causes: Cause[] = [];
    const name = asString(port.name);
    const number = `${port.protocol}/${port.port}`;
    const nodePort = port.nodePort === undefined ? "" : `${port.protocol}/${port.nodePort}`;
    if (name !== "" && names.has(name)) causes.push(duplicate(`spec.ports[${index}].name`, name));
    if (numbers.has(number)) {
      causes.push(duplicate(`spec.ports[${index}]`, { port: port.port, protocol: port.protocol }));
    }
    if (nodePort !== "" && nodePorts.has(nodePort)) {
      causes.push(duplicate(`spec.ports[${index}].nodePort`, { nodePort: port.nodePort, protocol: port.protocol }));
    }
    names.add(name);
    numbers.add(number);
    nodePorts.add(nodePort);
    return causes;
  });
}
