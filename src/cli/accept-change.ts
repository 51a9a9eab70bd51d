/** The flag that `azlb controller` and `azlb plan` share: lets one change of the configuration through. */
import { Option } from "commander";

import { CHANGES } from "../core/guard/configuration-changes.ts";

export function acceptChangeFlag(): Option {
  return new Option(
    "--accept-change <setting>",
    "let this one setting differ from what published Services have in Azure; otherwise nothing is written",
  ).choices(CHANGES);
}
