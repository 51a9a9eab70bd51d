/** IP tags (`RoutingPreference=Internet`): a set, chosen when the address is made. */
import type { PublicIP } from "../../model/arm.ts";
import type { IPTag } from "./fragment.ts";

export function hasIPTags({ properties }: PublicIP, wanted: readonly IPTag[]): boolean {
  const seen = (properties.ipTags ?? []).map(({ ipTagType, tag }) => `${ipTagType}=${tag}`);
  const asked = wanted.map(({ type, value }) => `${type}=${value}`);
  return seen.sort().join() === asked.sort().join();
}
