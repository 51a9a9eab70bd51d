/**
 * Selects the member of a new flow by hash. The same five-tuple maps to the same member while the set of eligible members
 * is unchanged; a changed set redistributes new flows.
 */
import type { Distribution, Flow, Member } from "./forwarding.ts";

export function memberFor(flow: Flow, distribution: Distribution, eligible: readonly Member[]): Member | undefined {
  return eligible[flowHash(flow, distribution) % eligible.length];
}

/** An unsigned 32-bit hash of the fields that the distribution mode includes. */
export function flowHash(flow: Flow, distribution: Distribution): number {
  return hash32(hashedPart(flow, distribution).join("|"));
}

function hashedPart(flow: Flow, distribution: Distribution): readonly (string | number)[] {
  const addresses = [flow.sourceAddress, flow.destinationAddress];
  switch (distribution) {
    case "SourceIP":
      return addresses;
    case "SourceIPProtocol":
      return [...addresses, flow.transport];
    case "Default":
      return [...addresses, flow.transport, flow.sourcePort, flow.destinationPort];
  }
}

/** FNV-1a with a finalizing mix, so that adjacent ports do not map to adjacent members. */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
