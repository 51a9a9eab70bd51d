/**
 * Parses the attribute `rules`: `frontendPort[:backendPort][/protocol][@probe]`, separated by commas.
 *
 *   80:8080                          TCP 80 to 8080, probed by a connection to 8080
 *   443/TCP@https:8443/healthz       TCP 443 to 443, probed by a request
 *   53/UDP@tcp:8080                  UDP cannot be probed: it needs a probe of another protocol
 */
import type { Port } from "../objects/objects.ts";
import type { Mistake } from "./azure-spec.ts";

export interface AzureRule {
  readonly protocol: Port["protocol"];
  readonly frontendPort: number;
  readonly backendPort: number;
  readonly probe: AzureProbe;
}

interface AzureProbe {
  readonly protocol: "Tcp" | "Http" | "Https";
  readonly port: number;
  readonly path?: string;
}

const RULE = /^(\d+)(?::(\d+))?(?:\/(tcp|udp))?(?:@(.+))?$/i;
const PROBE = /^(tcp|https?):(\d+)(\/\S*)?$/i;

export function parseRules(text: string): readonly AzureRule[] | Mistake {
  const rules: AzureRule[] = [];
  for (const each of text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")) {
    const rule = parseRule(each);
    if ("mistake" in rule) return rule;
    rules.push(rule);
  }
  return duplicateOf(rules) ?? rules;
}

function parseRule(text: string): AzureRule | Mistake {
  const match = RULE.exec(text);
  if (match === null) return { mistake: `attributes.rules: "${text}" is no rule such as 80:8080/TCP` };
  const frontendPort = Number(match[1]);
  const backendPort = match[2] === undefined ? frontendPort : Number(match[2]);
  const wrong = [frontendPort, backendPort].find((port) => !isPort(port));
  if (wrong !== undefined) return { mistake: `attributes.rules: "${text}": ${wrong} is no port from 1 to 65535` };
  const protocol = match[3]?.toUpperCase() === "UDP" ? "UDP" : "TCP";
  const probe = parseProbe(text, match[4], protocol === "TCP" ? backendPort : undefined);
  return "mistake" in probe ? probe : { protocol, frontendPort, backendPort, probe };
}

function parseProbe(rule: string, text: string | undefined, byDefault: number | undefined): AzureProbe | Mistake {
  if (text === undefined) {
    if (byDefault !== undefined) return { protocol: "Tcp", port: byDefault };
    return { mistake: `attributes.rules: "${rule}": UDP needs a probe: append one such as @tcp:8080` };
  }
  const match = PROBE.exec(text);
  const port = Number(match?.[2]);
  const protocol = match?.[1]?.toLowerCase();
  const isRequest = protocol === "http" || protocol === "https";
  if (match === null || !isPort(port) || (match[3] !== undefined && !isRequest)) {
    return { mistake: `attributes.rules: "${rule}": "${text}" is no probe such as tcp:8080 or http:8080/healthz` };
  }
  if (!isRequest) return { protocol: "Tcp", port };
  return { protocol: protocol === "http" ? "Http" : "Https", port, path: match[3] ?? "/" };
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}

/** Azure refuses two rules with one frontend port, and two rules with one backend port of a pool. */
function duplicateOf(rules: readonly AzureRule[]): Mistake | undefined {
  for (const side of ["frontendPort", "backendPort"] as const) {
    const seen = new Set<string>();
    for (const rule of rules) {
      const port = `${rule[side]}/${rule.protocol}`;
      if (seen.has(port))
        return { mistake: `attributes.rules: ${side.replace("Port", " port")} ${port} is given twice` };
      seen.add(port);
    }
  }
  return undefined;
}
