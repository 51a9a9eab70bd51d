/**
 * All we can do, as data. The core answers with steps; `controller/apply-step.ts` is their only interpreter,
 * so a dry run is the same code without it.
 *
 * A step never carries a whole shared resource: it carries the fragment that its owner wants there, and the writer
 * merges all fragments that wait for the same resource at the moment of the write.
 */
import type { LoadBalancerFragment } from "./resources/load-balancer/fragment.ts";
import type { NicPoolsFragment } from "./resources/nic-pools/fragment.ts";
import type { BackendPoolFragment } from "./resources/backend-pool/fragment.ts";
import type { SecurityGroupFragment } from "./resources/security-group/fragment.ts";
import type { PublicIPFragment } from "./resources/public-ip/fragment.ts";
import type { Ingress } from "./model/kubernetes.ts";
import type { Rejection, Warning } from "./service/service-intent.ts";

/** A write to one Azure resource, on behalf of one owner. `id` is the resource that is PUT or deleted. */
export type AzureStep =
  | { readonly kind: "publicIP"; readonly id: string; readonly fragment: PublicIPFragment; readonly why: string }
  | {
      readonly kind: "loadBalancer";
      readonly id: string;
      readonly fragment: LoadBalancerFragment;
      readonly why: string;
    }
  /** `id` is the pool's. */
  | { readonly kind: "membership"; readonly id: string; readonly fragment: BackendPoolFragment; readonly why: string }
  /** `id` is a network interface's, a scale set's or a scale-set instance's. */
  | { readonly kind: "attachment"; readonly id: string; readonly fragment: NicPoolsFragment; readonly why: string }
  | { readonly kind: "access"; readonly id: string; readonly fragment: SecurityGroupFragment; readonly why: string };

/** A write to the Service itself. */
export type ServiceStep =
  | { readonly kind: "addFinalizer"; readonly why: string }
  | { readonly kind: "removeFinalizer"; readonly why: string }
  | {
      readonly kind: "publish";
      readonly ingress: readonly Ingress[];
      /** Fingerprint of the spec that is now fully applied; absent while leftovers of an earlier one remain. */
      readonly applied: string | undefined;
      readonly why: string;
    };

export type Step = AzureStep | ServiceStep;

/** Something that the core must see before it decides; the caller reads it and asks again. */
export type ReadRequest =
  | { readonly kind: "publicIPs"; readonly resourceGroup: string }
  | { readonly kind: "subnet"; readonly name: string }
  /** The machines behind the nodes: see `needsCompute`. */
  | { readonly kind: "compute" };

export type Decision =
  | { readonly kind: "read"; readonly needs: readonly ReadRequest[] }
  /** One round: the steps may be applied together; then look again. */
  | { readonly kind: "act"; readonly steps: readonly Step[]; readonly warnings: readonly Warning[] }
  /** Nothing to do. `applied` is what the Service may be marked with, without hurry: see `service/applied.ts`. */
  | { readonly kind: "settled"; readonly warnings: readonly Warning[]; readonly applied?: string }
  /** Something that somebody else has begun must end first; look again a little later. */
  | { readonly kind: "wait"; readonly why: string }
  | { readonly kind: "reject"; readonly rejection: Rejection };

/** What a merge of fragments into a shared resource comes to. */
export type Merged<Body> = {
  /** The body to PUT, `"delete"` where nothing of anyone is left, `"unchanged"` where what is there is right. */
  readonly outcome:
    | { readonly kind: "put"; readonly body: Body }
    | { readonly kind: "delete" }
    | { readonly kind: "unchanged" };
  /** Owners whose fragment cannot stand here, each with its reason; the others' are in the outcome. */
  readonly refused: readonly { readonly owner: string; readonly rejection: Rejection }[];
  /** Owners whose fragment names parts that have gone since it was decided: look again and decide anew. */
  readonly stale?: readonly string[];
  /** Things to tell an owner (a frontend that had to stay, a foreign entry that was kept). */
  readonly warnings: readonly { readonly owner: string; readonly warning: Warning }[];
};
