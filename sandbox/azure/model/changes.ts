/**
 * The vocabulary of what can happen to the state. Plain JSON: a journal of changes is a durable store, and
 * applying the same changes to the same state always gives the same state.
 *
 *   put       | a resource is there, whole
 *   child     | one child of a resource is there, or (no `child`) is not
 *   leave     | a NIC, scale-set instance or scale set is no longer in a backend pool
 *   mark      | a resource's provisioning state moved on, its content did not
 *   drop      | a resource is gone
 *   operation | an operation began, or ended
 *   forget    | an ended operation is no longer known
 *   options   | limits and switches were set
 */
import type { Json } from "./json.ts";
import type { Options } from "./options.ts";
import type { Operation } from "./operation.ts";

export type ProvisioningState = "Creating" | "Updating" | "Deleting" | "Succeeded" | "Failed" | "Canceled";

/** A top-level resource, or a scale-set instance; children live in `body`. */
export interface Resource {
  /** Canonical id. The key everywhere is its lower-case form. */
  readonly id: string;
  /** Canonical ARM type. */
  readonly type: string;
  readonly location: string;
  /** Drawn at creation: `resourceGuid`, `vmId`, and the seed of its ETags. */
  readonly guid: string;
  /** Order of creation; lists follow it. */
  readonly sequence: number;
  /** Counts every visible change; the ETag follows from it. */
  readonly revision: number;
  readonly state: ProvisioningState;
  /** Has been Succeeded once: what is assigned late (a public address) shows from then on. */
  readonly provisioned: boolean;
  /** Name of the operation that wrote it last, e.g. `PutPublicIpAddressOperation`. */
  readonly lastOperation: string;
  readonly createdMs: number;
  /** The normal form, without what is derived: ids, ETags, states, back-references. */
  readonly body: Json;
  /** What the service assigned and the caller cannot write: addresses, aliases. */
  readonly assigned: Json;
}

/** What a write moves besides content; the revision counts on by itself. */
export type ResourceMark = Pick<Resource, "state" | "provisioned" | "lastOperation">;

export type Change =
  | { readonly kind: "put"; readonly resource: Resource }
  | {
      readonly kind: "child";
      readonly key: string;
      readonly collection: string;
      readonly name: string;
      readonly child?: Json;
      readonly mark: ResourceMark;
    }
  | { readonly kind: "leave"; readonly key: string; readonly pool: string }
  | { readonly kind: "mark"; readonly key: string; readonly mark: ResourceMark }
  | { readonly kind: "drop"; readonly key: string }
  | { readonly kind: "operation"; readonly operation: Operation }
  | { readonly kind: "forget"; readonly operationId: string }
  | { readonly kind: "options"; readonly options: Options };
