/**
 * All that the controller can do, as data. The core answers with steps, and `controller/service/step-executor.ts`
 * carries them out, so a dry run is the same code without it.
 */
import type { Ingress } from "./model/kubernetes.ts";
import type { Rejection, Warning } from "./outcome.ts";
import type { AzureStep, ListedKind } from "./resources/azure-step.ts";

export type { AzureStep } from "./resources/azure-step.ts";

/** A write to the Service itself. */
export type ServiceStep =
  | { readonly kind: "addFinalizer"; readonly why: string }
  | { readonly kind: "removeFinalizer"; readonly why: string }
  | {
      readonly kind: "updateStatus";
      readonly ingress: readonly Ingress[];
      /** Fingerprint of the spec that is now fully applied; absent while leftovers of an earlier one remain. */
      readonly applied: string | undefined;
      readonly why: string;
    };

export type Step = AzureStep | ServiceStep;

/** Something that the core must see before it decides; the caller reads it and asks again. */
export type ReadRequest =
  /** All resources of a kind in a resource group. */
  | { readonly kind: "list"; readonly of: ListedKind; readonly resourceGroup: string }
  | { readonly kind: "subnet"; readonly name: string }
  /** The machines behind the nodes: see `needsCompute`. */
  | { readonly kind: "compute" };

export type Decision =
  | { readonly kind: "read"; readonly needs: readonly ReadRequest[] }
  /** One round: the steps may be applied together; then observe again. */
  | {
      readonly kind: "act";
      readonly steps: readonly Step[];
      readonly warnings: readonly Warning[];
      /** Ids of shared resources that a later round writes: what others write there may wait for it. */
      readonly leadsTo?: readonly string[];
    }
  /** Nothing to do. `applied` is what the Service may be marked with, without hurry: see `service/applied-state.ts`. */
  | { readonly kind: "settled"; readonly warnings: readonly Warning[]; readonly applied?: string }
  /** An operation of another client must end first; observe again a little later. */
  | { readonly kind: "wait"; readonly why: string }
  | { readonly kind: "reject"; readonly rejection: Rejection };
