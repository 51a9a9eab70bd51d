/** POST: creates an object: defaults, identity, validation, allocation. */
import type { KubeObject } from "../contract.ts";
import { without } from "../json.ts";
import { namespace as namespaceKind } from "../kinds/namespace.ts";
import { part } from "../resource.ts";
import { collectionOf, keyOf, objectAt } from "../state.ts";
import { alreadyExists, badRequest, forbidden, invalid, notFound, StatusError } from "../status-error.ts";
import { checkValid, fromStored, incoming, timestamp, tracked, type Write, type Written } from "./write.ts";

/** Kubernetes' alphabet for generated names: no vowels, no look-alikes. */
const SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;
const LONGEST_GENERATED = 63;

export function create(write: Write, body: unknown): Written {
  const { resource } = write;
  const object = incoming(write, body, undefined);
  checkNamespace(write, object.metadata.name ?? object.metadata.generateName ?? "");
  if (object.metadata.resourceVersion !== undefined) {
    throw new StatusError(500, "", "resourceVersion should not be set on objects to be created");
  }
  return { object: fromStored(resource, createStored(write, object)) };
}

/** Creates an object given in stored form; used by the control loops too. */
export function createStored(write: Write, object: KubeObject): KubeObject {
  const { resource } = write;
  const { behaviour } = resource;
  const named = withIdentity(write, object);
  const cleared =
    resource.subresources.includes("status") && resource.kind !== "Node" ? without(named, "status") : named;
  const defaulted = behaviour.setDefaults?.(cleared) ?? cleared;
  const owned = tracked(write, undefined, defaulted, undefined);
  const prepared = behaviour.prepareCreate?.(owned, write) ?? owned;
  checkValid(write, prepared, undefined, undefined);
  if (objectAt(write.state, resource.collection, keyOf(prepared)) !== undefined) {
    throw alreadyExists(resource, prepared.metadata.name ?? "");
  }
  const allocated = behaviour.allocate?.(prepared, write) ?? { object: prepared, causes: [] };
  if (allocated.causes.length > 0) throw invalid(resource, prepared.metadata.name ?? "", allocated.causes);
  if (write.dryRun) return allocated.object;
  return write.transaction.record("ADDED", resource.collection, allocated.object);
}

function withIdentity(write: Write, object: KubeObject): KubeObject {
  const { name, generateName, ...meta } = object.metadata;
  const given = { ...meta };
  delete given.deletionTimestamp;
  delete given.deletionGracePeriodSeconds;
  delete given.generation;
  return {
    ...object,
    metadata: {
      name: name ?? generatedName(write, generateName),
      ...(generateName === undefined ? {} : { generateName }),
      ...given,
      uid: write.draws.uuid(),
      ...(write.resource.generation ? { generation: 1 } : {}),
      creationTimestamp: timestamp(write.nowMs),
    },
  };
}

function generatedName(write: Write, prefix: string | undefined): string {
  if (prefix === undefined) return "";
  const letters = Array.from(
    { length: SUFFIX_LENGTH },
    () => SUFFIX_LETTERS[write.draws.integer(SUFFIX_LETTERS.length)],
  );
  return prefix.slice(0, LONGEST_GENERATED - SUFFIX_LENGTH) + letters.join("");
}

export function checkNamespace(write: Write, name: string): void {
  if (!write.resource.namespaced) return;
  if (write.namespace === undefined) throw badRequest("an empty namespace may not be set during creation");
  const found = collectionOf(write.state, "namespaces").objects.get(write.namespace);
  if (found === undefined) throw notFound(namespaceKind, write.namespace);
  if (part(found, "status")["phase"] !== "Terminating") return;
  const why = `unable to create new content in namespace ${write.namespace} because it is being terminated`;
  throw forbidden(write.resource, name, why, [
    {
      reason: "NamespaceTerminating",
      message: `namespace ${write.namespace} is being terminated`,
      field: "metadata.namespace",
    },
  ]);
}
