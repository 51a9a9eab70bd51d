/**
 * The changes that can be made to the state. They are plain JSON, so a journal of changes is a durable store.
 *
 *   put       | creates or replaces a resource
 *   child     | creates or replaces one child of a resource, or (without `child`) removes it
 *   leave     | removes a NIC, scale-set instance or scale set from a backend pool
 *   mark      | changes a resource's provisioning state, not its content
 *   drop      | removes a resource
 *   operation | records the start or the end of an operation
 *   forget    | removes an ended operation
 *   options   | sets limits and switches
 */
import type { Json } from "./json.ts";
import type { Options } from "./options.ts";
import type { Operation } from "./operation.ts";

export type ProvisioningState = "Creating" | "Updating" | "Deleting" | "Succeeded" | "Failed" | "Canceled";

/** A top-level resource or a scale-set instance; children are part of `body`. */
export interface Resource {
  /** Canonical id; its lower-case form is the resource's key. */
  readonly id: string;
  /** Canonical ARM type. */
  readonly type: string;
  readonly location: string;
  /** Drawn at creation: `resourceGuid`, `vmId`, and the seed of its ETags. */
  readonly guid: string;
  /** Order of creation; lists follow it. */
  readonly sequence: number;
  /** Counts visible changes; the ETag derives from it. */
  readonly revision: number;
  readonly state: ProvisioningState;
  /** Was Succeeded once: fields assigned late (a public address) are shown from then on. */
  readonly provisioned: boolean;
  /** Name of the operation that wrote it last, e.g. `PutPublicIpAddressOperation`. */
  readonly lastOperation: string;
  readonly createdMs: number;
  /** The normal form, without derived fields: ids, ETags, states, back-references. */
  readonly body: Json;
  /** Fields that Azure assigns and the caller cannot write: addresses, aliases. */
  readonly assigned: Json;
}

/** The fields that a `mark` changes; `apply` increments the revision. */
type ResourceMark = Pick<Resource, "state" | "provisioned" | "lastOperation">;

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
