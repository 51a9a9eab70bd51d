/**
 * Every name of LBCF's API, and the names that we give. Those of LBCF are its own to the letter, a misspelt one
 * included, so that its users' objects and tools go on working.
 */
import { md5 } from "../../util/md5.ts";
import type { BackendGroup, RecordedBackend, StringMap } from "./objects.ts";

export const LBCF_GROUP = "lbcf.tkestack.io";
export const SYSTEM_NAMESPACE = "kube-system";
const SYSTEM_PREFIX = "lbcf-";
/** Built in: no LoadBalancerDriver object stands for it. */
export const AZURE_DRIVER = "lbcf-azure";

export const FINALIZER = {
  record: `${LBCF_GROUP}/deregister-backend`,
  loadBalancer: `${LBCF_GROUP}/delete-load-loadbalancer`,
  group: `${LBCF_GROUP}/deregister-backend-group`,
  driver: `${LBCF_GROUP}/driver-in-use`,
} as const;

export const LABEL = {
  draining: `${LBCF_GROUP}/driver-draining`,
  doNotDelete: `${LBCF_GROUP}/do-not-delete`,
} as const;

export const ANNOTATION = {
  /** The way out when a driver can never confirm: `true` lets the object go, whatever is left in the load balancer. */
  forget: `${LBCF_GROUP}/forget`,
  /** Share of a group that may vanish at once, such as `50%`; `off`: any. */
  brake: `${LBCF_GROUP}/brake`,
} as const;

/** Pod condition and readiness gate. */
export const REGISTERED_GATE = `${LBCF_GROUP}/registered`;

const HELD_LABEL_LENGTH = 63;

export function isSystemName(name: string): boolean {
  return name.startsWith(SYSTEM_PREFIX);
}

export type Naming = Pick<BackendGroup, "kind" | "metadata">;

/** `podIP`: part of a Bind's record names only. */
export function recordName(of: Naming, lbName: string, backend: RecordedBackend, podIP = ""): string {
  const { name } = of.metadata;
  if (of.kind === "Bind") return hashed(bindParts(name, lbName, backend, podIP).join("/"));
  return hashed([lbName, name, ...groupParts(backend)].join("_"));
}

const MOST_REMEMBERED = 100_000;
const remembered = new Map<string, string>();

/** Each look at a group asks for the same names again; hashing them is most of its work. */
function hashed(text: string): string {
  const known = remembered.get(text);
  if (known !== undefined) return known;
  if (remembered.size >= MOST_REMEMBERED) remembered.clear();
  const hash = md5(text);
  remembered.set(text, hash);
  return hash;
}

function groupParts(backend: RecordedBackend): readonly (string | number)[] {
  switch (backend.kind) {
    case "Pod":
      return [backend.uid ?? "", backend.port.port, backend.port.protocol];
    case "Service":
      return [backend.name, backend.port.port, backend.port.protocol, backend.nodeName];
    case "Static":
      return [backend.address];
  }
}

/** Joined with a character that no name has: LBCF joins with a dash, and then `a-b` + `c` is `a` + `b-c`. */
function bindParts(bind: string, lb: string, backend: RecordedBackend, podIP: string): readonly (string | number)[] {
  return [bind, lb, backend.kind === "Pod" ? backend.name : "", podIP, ...groupParts(backend).slice(1)];
}

export function recordLabels(of: Naming, lbName: string, lbDriver: string, backend: RecordedBackend): StringMap {
  const values: Record<string, string> =
    of.kind === "Bind"
      ? { driver: lbDriver, lb: lbName, bind: of.metadata.name, ...(backend.kind === "Pod" && { pod: backend.name }) }
      : {
          "lb-driver": lbDriver,
          "lb-name": lbName,
          "backend-group": of.metadata.name,
          ...(backend.kind === "Pod" && { "backend-pod": backend.name }),
          ...(backend.kind === "Service" && { "backend-service": backend.name }),
        };
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [`${LBCF_GROUP}/${key}`, labelValue(value)]));
}

/** Names may be longer than labels: a long one is cut, and told from others by its hash. */
export function labelValue(name: string): string {
  if (name.length <= HELD_LABEL_LENGTH) return name;
  const hash = md5(name).slice(0, 8);
  return `${name.slice(0, HELD_LABEL_LENGTH - hash.length - 1).replace(/[^A-Za-z0-9]+$/, "")}-${hash}`;
}
