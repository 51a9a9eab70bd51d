/** That a subnet lets private link services have addresses in it, as data. Nothing else of a subnet is ever changed. */
import type { Owner } from "../../outcome.ts";

export interface SubnetFragment {
  readonly kind: "open";
  readonly owner: Owner;
}
