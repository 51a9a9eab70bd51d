/**
 * Steps that write to Azure become writes of the group commit: which resource, whose fragment, which merge. The merges
 * are the core's, so what is written is what a plan showed, merged into what is there at the moment of the write.
 */
import { UNCHANGED, type ArmBody, type Merge, type Write } from "../../azure/group-commit/commit-types.ts";
import type { Priority } from "../../azure/budget/budget.ts";
import type { BackendPool, SecurityGroup } from "../../core/model/arm.ts";
import { mergeNicPools } from "../../core/resources/nic-pools/merge-nic-pools.ts";
import type { BackendPoolFragment } from "../../core/resources/backend-pool/fragment.ts";
import { mergeBackendPool } from "../../core/resources/backend-pool/merge-backend-pool.ts";
import { mergeLoadBalancer } from "../../core/resources/load-balancer/merge-load-balancer.ts";
import type { AzureStep } from "../../core/steps.ts";
import { mergePublicIP } from "../../core/resources/public-ip/merge-public-ip.ts";
import type { Owner } from "../../core/service/service-intent.ts";
import { mergeSecurityGroup } from "../../core/resources/security-group/merge-security-group.ts";

/** A pool's or a machine's writes all come from the cluster, not from a Service: the newest takes the older's place. */
const CLUSTER = "cluster";

/** `refreshed`: a membership may have waited long since it was decided: see `admin-state.ts`. */
export function writeOf(
  step: AzureStep,
  priority: Priority,
  refreshed: Refresh = (fragment) => fragment,
): Write<ArmBody, never> {
  const { id, kind } = step;
  switch (step.kind) {
    case "loadBalancer":
      return byService(step.fragment, mergeLoadBalancer);
    case "publicIP":
      return byService(step.fragment, mergePublicIP);
    case "access":
      return byService(step.fragment, (seen: SecurityGroup | undefined, fragments) =>
        mergeSecurityGroup(seen ?? null, fragments),
      );
    case "membership":
      return erased({ id, kind, owner: CLUSTER, fragment: step.fragment, merge: mergeNewest(refreshed), priority });
    case "attachment":
      return erased({ id, kind, owner: CLUSTER, fragment: step.fragment, merge: mergeNicPools, priority });
  }
  function byService<Body extends ArmBody, Fragment extends { readonly owner: Owner }>(
    fragment: Fragment,
    merge: Merge<Body, Fragment>,
  ): Write<ArmBody, never> {
    return erased({ id, kind, owner: fragment.owner.key, fragment, merge, priority });
  }
}

/** The group commit hands each merge only fragments and bodies of its own id. */
function erased<Body extends ArmBody, Fragment>(write: Write<Body, Fragment>): Write<ArmBody, never> {
  return write as unknown as Write<ArmBody, never>;
}

type Refresh = (fragment: BackendPoolFragment) => BackendPoolFragment;

function mergeNewest(refreshed: Refresh): Merge<BackendPool, BackendPoolFragment> {
  return (seen, fragments) => {
    const newest = fragments.at(-1);
    return seen === undefined || newest === undefined ? UNCHANGED : mergeBackendPool(seen, refreshed(newest));
  };
}
