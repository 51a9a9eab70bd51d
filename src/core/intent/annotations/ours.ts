/** What only this controller has: keys below `azlb.io/`. */
import { choice, list, trimmedFlag } from "../annotation-values.ts";
import type { DriftPolicy } from "../service-intent.ts";
import type { Annotation } from "./annotation.ts";

export const OURS: {
  readonly driftPolicy: Annotation<DriftPolicy>;
  readonly shareAddressWith: Annotation<readonly string[]>;
  readonly deletionProtection: Annotation<boolean>;
} = {
  driftPolicy: {
    key: "azlb.io/drift-policy",
    kind: choice(["report", "enforce", "ignore"], "report"),
    byDefault: "`--drift-policy`, `report`",
    effect:
      "What happens when somebody changes in Azure what this Service owns: `report` says so and writes nothing until " +
      "the Service changes, `enforce` puts it right, `ignore` does neither.",
    origin: "azlb",
  },
  shareAddressWith: {
    key: "azlb.io/share-address-with",
    kind: list("namespaces, or `*` for all"),
    byDefault: "none",
    effect:
      "With `addressSharing: consent` in the config: Services of these namespaces may join the addresses of this " +
      "Service, on ports that are free. Those of its own namespace always may. Whatever the config says: LBCF's LoadBalancers of " +
      "these namespaces may have rules on its frontend.",
    origin: "azlb",
  },
  deletionProtection: {
    key: "azlb.io/deletion-protection",
    kind: trimmedFlag,
    byDefault: "false",
    effect:
      "The public IP that was made for this Service stays when the Service goes, and the next Service of the same " +
      "namespace and name gets it back. Internal Services: no effect, since nothing holds a private address.",
    origin: "azlb",
  },
};
