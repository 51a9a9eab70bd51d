/** Which of two sightings of one object is the newer. */
import type { KubeObject } from "../kube/client/resources.ts";

/** Versions are decimal and grow; a server where they aren't gets no help from this file, and needs none. */
export function isNewer(one: KubeObject, other: KubeObject): boolean {
  const versions = [one.metadata.resourceVersion, other.metadata.resourceVersion];
  if (!versions.every((version) => /^\d+$/.test(version))) return false;
  return BigInt(versions[0] ?? 0) > BigInt(versions[1] ?? 0);
}
