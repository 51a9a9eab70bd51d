/** What `azlb doctor` asks the cluster: its own rights, which controllers run, and whether the CRDs are whole. Reads only. */
import type { KubeClient } from "../kube/client/kube-client.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import type { KubeObject, Resource } from "../kube/client/resources.ts";
import { errorText } from "../core/util/text.ts";
import { type Check, ok, unknown, wrong } from "./doctor-checks.ts";
import { heldLeases, KUBE_SYSTEM, OWN_LEASE } from "./held-leases.ts";
import { DEFINITIONS, readDefinitions } from "./lbcf-definitions.ts";

const REVIEWS: Resource = {
  group: "authorization.k8s.io",
  version: "v1",
  plural: "selfsubjectaccessreviews",
  kind: "SelfSubjectAccessReview",
  namespaced: false,
};

interface Review extends KubeObject {
  readonly status?: { readonly allowed?: boolean };
}

type Right = readonly [verbs: readonly string[], resource: string, more?: { readonly [field: string]: string }];

const LEASE_PLACE = { group: "coordination.k8s.io", namespace: KUBE_SYSTEM };

/** Of `deploy/rbac.yaml`, but for the Secret, which a cloud config in a file does without. Some hold for one name only. */
export const RIGHTS: readonly Right[] = [
  [["list", "watch", "patch"], "services"],
  [["patch"], "services", { subresource: "status" }],
  [["list", "watch", "get", "patch"], "nodes"],
  [["create", "patch", "list", "watch"], "events"],
  [["create"], "leases", LEASE_PLACE],
  [["get", "update"], "leases", { ...LEASE_PLACE, name: OWN_LEASE }],
  [["get", "patch"], "leases", { ...LEASE_PLACE, name: "aks-managed-resource-locker" }],
  [["create", "list", "watch", "patch"], "configmaps", { namespace: KUBE_SYSTEM }],
  [["get", "delete"], "configmaps", { namespace: KUBE_SYSTEM, name: "azlb-brake-release" }],
];

export async function checkKubernetesRights(client: KubeClient): Promise<Check> {
  const what = "rights in Kubernetes";
  const missing: string[] = [];
  for (const [verbs, resource, more = {}] of RIGHTS) {
    for (const verb of verbs) {
      try {
        const resourceAttributes = { verb, resource, ...more };
        const review = await client.create<Review>(REVIEWS, { metadata: {}, spec: { resourceAttributes } });
        if (review.status?.allowed !== true)
          missing.push([verb, resource, more["subresource"], more["name"]].filter(Boolean).join(" "));
      } catch (error) {
        return unknown(what, `cannot be checked here: ${errorText(error)}`);
      }
    }
  }
  if (missing.length === 0) return ok(what, "everything of deploy/rbac.yaml, with this kubeconfig");
  const fix = "apply deploy/rbac.yaml, and run the doctor as its ServiceAccount";
  return wrong(what, `missing with this kubeconfig: ${missing.join(", ")}`, fix);
}

const INCUMBENT_LEASES = ["cloud-controller-manager", "cloud-provider-azure"];
const RESOURCE_LOCK = "aks-managed-resource-locker";
const INCUMBENT_LOCK_HOLDER = "cloud-controller-manager";

/** Which controllers run, by the Leases that they hold. */
export async function checkRivals(client: KubeClient, nowMs: number): Promise<Check[]> {
  try {
    const held = await heldLeases(client, nowMs);
    const incumbent = INCUMBENT_LEASES.flatMap((name) => held.get(name) ?? []);
    const azlb = held.get(OWN_LEASE);
    const lock = held.get(RESOURCE_LOCK);
    const runs = azlb === undefined ? "azlb does not run" : `azlb runs (${azlb})`;
    const locked = lock === undefined ? "the resource lock is free" : `the resource lock is held by ${lock}`;
    const unseen = azlb === undefined ? " (an azlb with --leader-elect=false is not seen here)" : "";
    const running = [runs, ...incumbent.map((holder) => `cloud-controller-manager runs (${holder})`), locked];
    const text = running.join(", ") + unseen;
    const isRival = azlb !== undefined && lock === INCUMBENT_LOCK_HOLDER;
    const fix = "start cloud-controller-manager with --controllers=*,-service-lb-controller";
    return [isRival ? wrong("controllers", `${text}: both write`, fix) : ok("controllers", text)];
  } catch (error) {
    return [unknown("controllers", `cannot be checked here: ${errorText(error)}`)];
  }
}

/** LBCF is on once its CRDs are there; some of them without the others are a mistake. */
export async function checkDefinitions(client: KubeClient): Promise<Check> {
  const what = "CRDs of LBCF";
  const names = readDefinitions().map(({ metadata }) => metadata.name);
  const missing: string[] = [];
  for (const name of names) {
    try {
      await client.get(DEFINITIONS, { name });
    } catch (error) {
      if (!isFailure(error, "notFound")) return unknown(what, `cannot be checked here: ${errorText(error)}`);
      missing.push(name);
    }
  }
  if (missing.length === 0) return ok(what, "installed");
  if (missing.length === names.length) return ok(what, "not installed: LBCF is off");
  return wrong(what, `missing: ${missing.join(", ")}`, "apply all of deploy/crds");
}
