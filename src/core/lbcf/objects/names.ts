/**
 * The names of LBCF's API (finalizers, labels, annotations), spelled exactly as LBCF spells them, including one typo, so
 * that existing objects and tools keep working; and the names and labels of the records that the controller creates.
 */
import { md5 } from "../../util/md5.ts";
import { memoText } from "../../util/memo.ts";
import type { BackendGroup, Port, RecordedBackend, StringMap } from "./objects.ts";

export const LBCF_GROUP = "lbcf.tkestack.io";
export const SYSTEM_NAMESPACE = "kube-system";
const SYSTEM_PREFIX = "lbcf-";
/** Built in: it has no LoadBalancerDriver object. */
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
  /** `true`: delete the object without the driver's confirmation, whatever is left in the load balancer. */
  forget: `${LBCF_GROUP}/forget`,
  /** The deregistration limit: the share of a group that may vanish at once, such as `50%`; `off`: any. */
  brake: `${LBCF_GROUP}/brake`,
  /** Namespaces, between commas (`*`: all), that may use the pool and the frontend of this LoadBalancer or Bind. */
  shareWith: `${LBCF_GROUP}/share-with`,
} as const;

/** Pod condition and readiness gate. */
export const REGISTERED_GATE = `${LBCF_GROUP}/registered`;

const LABEL_VALUE_LENGTH = 63;

export function isSystemName(name: string): boolean {
  return name.startsWith(SYSTEM_PREFIX);
}

export type RecordOwner = Pick<BackendGroup, "kind" | "metadata">;

/** The name that LBCF gives the record. `podIP` is part of the names of a Bind's records only. */
export function recordName(owner: RecordOwner, lbName: string, backend: RecordedBackend, podIP = ""): string {
  const { name } = owner.metadata;
  if (owner.kind !== "Bind") return hashed([lbName, name, ...groupParts(backend)].join("_"));
  const { port, protocol } = backend.kind === "Static" ? { port: 0, protocol: "" } : spelledPort(backend.port);
  return hashed([name, lbName, podNameOf(backend), podIP, protocol, port].join("-"));
}

/**
 * Other names that a Bind's record may have, which stay as they are: made when the protocol was spelled otherwise, or
 * because LBCF's name was taken. LBCF joins with a dash, so that Bind `a-b` with load balancer `c` has the names of Bind
 * `a` with `b-c`; the first of these joins with `/`, which no name contains.
 */
export function otherRecordNames(
  owner: RecordOwner,
  lbName: string,
  backend: RecordedBackend,
  podIP = "",
): readonly [string, ...string[]] | undefined {
  if (owner.kind !== "Bind" || backend.kind !== "Pod") return undefined;
  const { name } = owner.metadata;
  const { port, protocol } = backend.port;
  const spellings = [protocol, protocol.toLowerCase()].map((each) => ({ port, protocol, spelling: each }));
  return [
    hashed([name, lbName, backend.name, podIP, port, protocol].join("/")),
    ...spellings.map((each) => recordName(owner, lbName, { ...backend, port: each }, podIP)),
  ];
}

function podNameOf(backend: RecordedBackend): string {
  return backend.kind === "Pod" ? backend.name : "";
}

/** As the user wrote it. */
function spelledPort({ port, protocol, spelling = protocol }: Port): { port: number; protocol: string } {
  return { port, protocol: spelling };
}

/** As many as there are backends in a large cluster. Each sync of a group asks for the same names again. */
const MOST_HASHES = 100_000;
const hashed = memoText(md5, MOST_HASHES);

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

export function recordLabels(
  owner: RecordOwner,
  lbName: string,
  lbDriver: string,
  backend: RecordedBackend,
): StringMap {
  const values: Record<string, string> =
    owner.kind === "Bind"
      ? {
          driver: lbDriver,
          lb: lbName,
          bind: owner.metadata.name,
          ...(backend.kind === "Pod" && { pod: backend.name }),
        }
      : {
          "lb-driver": lbDriver,
          "lb-name": lbName,
          "backend-group": owner.metadata.name,
          ...(backend.kind === "Pod" && { "backend-pod": backend.name }),
          ...(backend.kind === "Service" && { "backend-service": backend.name }),
        };
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [`${LBCF_GROUP}/${key}`, labelValue(value)]));
}

/** A name may be longer than a label value: then it is cut, and a hash keeps it distinct. */
export function labelValue(name: string): string {
  if (name.length <= LABEL_VALUE_LENGTH) return name;
  const hash = md5(name).slice(0, 8);
  return `${name.slice(0, LABEL_VALUE_LENGTH - hash.length - 1).replace(/[^A-Za-z0-9]+$/, "")}-${hash}`;
}
