/**
 * What the model must know about a type of resource. The verbs (`put.ts`, `remove.ts`, `read.ts`) are written
 * once over this; a type says what is its own: normal form, validation, references, wire form.
 */
import type { Change, ProvisioningState, Resource } from "./changes.ts";
import type { ArmRequest, Draws, Probed } from "./contract.ts";
import type { Json } from "./json.ts";
import type { NameRule } from "./names.ts";
import type { Reference } from "./references.ts";
import type { State } from "./state.ts";

/**
 * How a write goes on after its answer.
 *
 *   headerless   | done, and no operation to ask about
 *   now          | done, with an operation that has already ended
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
  /** The sequence number that a new resource gets; companions follow it. */
  readonly sequence: number;
}

/** A valid write: its normal form and what goes with it. */
export interface Plan {
  readonly body: Json;
  readonly assigned: Json;
  readonly pace: Pace;
  /** How heavy the work is, for latency; see `OperationKind.weight`. */
  readonly weight?: number;
  /** Other resources that this write locks while it runs. */
  readonly locks?: readonly string[];
  /** The answer's body, where it shows more than the state does yet. */
  readonly present?: (wire: Json) => Json;
  /** Resources that come or go with it; those that are not Succeeded become so when it ends. */
  readonly companions?: readonly Change[];
}

export interface ChildType {
  /** Canonical name of the collection, e.g. `backendAddressPools`. */
  readonly collection: string;
  /** Its part of operation names, e.g. `LoadBalancerBackendAddressPool`. */
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

/** One thing, a list of things, or a list of resources by key. */
export type View =
  | { readonly one: Json; readonly etag?: string }
  | { readonly list: readonly Json[] }
  | { readonly resources: readonly string[] };

export interface ActionInput {
  readonly state: State;
  readonly resource: Resource;
  /** What follows the resource in the path, e.g. `["migrateToIpBased"]`. */
  readonly path: readonly string[];
  readonly body: Json;
  readonly probed?: Probed | undefined;
}

/** What a POST does: its result, and what happens when its operation ends. */
export interface Action {
  readonly name: string;
  readonly result: Json;
  /**
   * atOnce     | the result is the answer
   * byLocation | 202; the result is at the Location once the operation has ended
   */
  readonly answer: "atOnce" | "byLocation";
  /** Pools whose NIC members become addresses, some time after the answer. */
  readonly migrates?: readonly string[];
}

export interface ResourceType {
  /** Canonical, e.g. `Microsoft.Network/loadBalancers`. */
  readonly type: string;
  /** Its part of operation names: `Put{LoadBalancer}Operation`. */
  readonly operation: string;
  readonly nameRule: NameRule;
  readonly children: readonly ChildType[];
  /** What a new one shows until its operation ends; `Updating` where absent. */
  readonly creating?: ProvisioningState;
  /** False where the location is not in the body but follows from the parent or group. */
  readonly located?: false;
  /** Status of a PUT that creates; 201 where absent. */
  readonly createStatus?: 200;
  /** True where DELETE is done with its answer. */
  readonly synchronousDelete?: true;
  /** True where the provider, not the front door, says that one is not there. */
  readonly untracked?: true;
  /** Status of an accepted DELETE. */
  readonly deleteStatus: 200 | 202;
  /** Validates a body against the state and gives its normal form; throws a ArmError. */
  plan(input: PutInput, body: Json): Plan;
  /** Validates the parent with one child replaced; throws a ArmError. */
  planChild?(input: PutInput & { readonly existing: Resource }, body: Json): Plan;
  references(resource: Resource): readonly Reference[];
  /** The body once a reference to one of its children is gone, where it kept something about it. */
  released?(body: Json, reference: Reference): Json;
  /** The wire form, complete with ids, ETags, states and back-references. */
  render(state: State, resource: Resource): Json;
  /** Throws a ArmError when something still needs the resource. */
  checkDelete(state: State, resource: Resource): void;
  /** Throws a ArmError when something still needs the child. */
  checkDeleteChild?(state: State, resource: Resource, collection: string, name: string): void;
  /** The wire form when `$expand` asks for more; undefined if it does not. */
  expand?(state: State, resource: Resource, request: ArmRequest): Json | undefined;
  /** Whether a list's `$filter` lets a resource through. */
  filter?(resource: Resource, request: ArmRequest): boolean;
  /** Read-only views below the resource that are not children, e.g. `instanceView`; undefined if there is none. */
  view?(state: State, resource: Resource, path: readonly string[], request: ArmRequest): View | undefined;
  /** POST below the resource; undefined if there is no such action. */
  act?(input: ActionInput): Action | undefined;
  /** What its going changes elsewhere, before it is gone. */
  parting?(state: State, resource: Resource): readonly Change[];
  /** Keys of what goes away with the resource. */
  dependants?(state: State, resource: Resource): readonly string[];
}
