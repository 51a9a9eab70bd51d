/**
 * The definition of a resource type. The verbs (`put.ts`, `remove.ts`, `read.ts`, …) are generic over it; a type provides
 * its normal form, validation, references and wire form.
 */
import type { Change, ProvisioningState, Resource } from "./changes.ts";
import type { ArmRequest, Draws, Probed } from "./contract.ts";
import type { Json } from "./json.ts";
import type { NameRule } from "./names.ts";
import type { Reference } from "./references.ts";
import type { State } from "./state.ts";

/**
 * How a write completes after its answer.
 *
 *   headerless   | complete, without an operation
 *   now          | complete, with an operation that has already ended
 *   later        | Updating until its operation ends
 */
export type Pace = "headerless" | "now" | "later";

export interface PutInput {
  readonly state: State;
  readonly request: ArmRequest;
  readonly draws: Draws;
  /** Canonical id of the resource that is written. */
  readonly id: string;
  readonly key: string;
  readonly existing: Resource | undefined;
  readonly location: string;
  /** The sequence number of a new resource; companions get the following ones. */
  readonly sequence: number;
}

/** A valid write: its normal form and its side effects. */
export interface Plan {
  readonly body: Json;
  readonly assigned: Json;
  readonly pace: Pace;
  /** Size of the work, for latency; see `OperationKind.weight`. */
  readonly weight?: number;
  /** Other resources that this write locks while it runs. */
  readonly locks?: readonly string[];
  /** The answer's body, where it differs from the stored state. */
  readonly present?: (wire: Json) => Json;
  /** Resources created or removed with it; those not Succeeded become so when the operation ends. */
  readonly companions?: readonly Change[];
}

export interface ChildType {
  /** Canonical name of the collection, e.g. `backendAddressPools`. */
  readonly collection: string;
  /** The part of operation names, e.g. `LoadBalancerBackendAddressPool`. */
  readonly operation: string;
  readonly nameRule: NameRule;
  /** The normal form of one child; absent where the collection is read only. */
  readonly put?: (input: ChildInput) => Json;
}

export interface ChildInput extends PutInput {
  readonly existing: Resource;
  readonly name: string;
  /** The child as stored now. */
  readonly child: Json | undefined;
  readonly body: Json;
}

/** One object, a list of objects, or a list of resources by key. */
export type View =
  | { readonly one: Json; readonly etag?: string }
  | { readonly list: readonly Json[] }
  | { readonly resources: readonly string[] };

export interface ActionInput {
  readonly state: State;
  readonly resource: Resource;
  /** The path after the resource, e.g. `["migrateToIpBased"]`. */
  readonly path: readonly string[];
  readonly body: Json;
  readonly probed?: Probed | undefined;
}

/** The effect of a POST: its result, and what its operation changes. */
export interface Action {
  readonly name: string;
  readonly result: Json;
  /**
   * atOnce     | the result is the answer
   * byLocation | 202; the result is at the Location once the operation has ended
   */
  readonly answer: "atOnce" | "byLocation";
  /** Pools whose NIC members become IP members when the operation ends. */
  readonly migrates?: readonly string[];
}

export interface ResourceType {
  /** Canonical, e.g. `Microsoft.Network/loadBalancers`. */
  readonly type: string;
  /** The part of operation names: `Put{LoadBalancer}Operation`. */
  readonly operation: string;
  readonly nameRule: NameRule;
  readonly children: readonly ChildType[];
  /** Provisioning state of a new resource until its operation ends; `Updating` if absent. */
  readonly creating?: ProvisioningState;
  /** False where the location is not in the body but derived from the parent or group. */
  readonly located?: false;
  /** Status of a PUT that creates; 201 if absent. */
  readonly createStatus?: 200;
  /** True where DELETE is synchronous. */
  readonly synchronousDelete?: true;
  /** True where the provider, not the gateway, answers for an absent resource. */
  readonly untracked?: true;
  /** Status of an accepted DELETE. */
  readonly deleteStatus: 200 | 202;
  /** Validates a body against the state and returns its normal form; throws `ArmError`. */
  plan(input: PutInput, body: Json): Plan;
  /** Validates the parent with one child replaced; throws `ArmError`. */
  planChild?(input: PutInput & { readonly existing: Resource }, body: Json): Plan;
  references(resource: Resource): readonly Reference[];
  /** The body after a reference to one of its children was removed, for types that store something about referrers. */
  released?(body: Json, reference: Reference): Json;
  /** The wire form with ids, ETags, states and back-references. */
  render(state: State, resource: Resource): Json;
  /** Throws `ArmError` if the resource is in use. */
  checkDelete(state: State, resource: Resource): void;
  /** Throws `ArmError` if the child is in use. */
  checkDeleteChild?(state: State, resource: Resource, collection: string, name: string): void;
  /** The wire form for `$expand`; undefined if it adds nothing. */
  expand?(state: State, resource: Resource, request: ArmRequest): Json | undefined;
  /** Whether a resource matches a list's `$filter`. */
  filter?(resource: Resource, request: ArmRequest): boolean;
  /** Read-only views below the resource that are not children, e.g. `instanceView`; undefined if there is none. */
  view?(state: State, resource: Resource, path: readonly string[], request: ArmRequest): View | undefined;
  /** POST below the resource; undefined if there is no such action. */
  action?(input: ActionInput): Action | undefined;
  /** Changes to other resources before it is removed. */
  changesOnDelete?(state: State, resource: Resource): readonly Change[];
  /** Keys of resources that are removed with it. */
  dependants?(state: State, resource: Resource): readonly string[];
}
