/**
 * A frontend that others use too keeps its address: giving it another would move them along. The Service that wants to
 * move is refused until it is alone.
 */
import type { Rejection } from "../../outcome.ts";
import type { LoadBalancerFragment } from "./fragment.ts";
import { frontendOf, type LoadBalancerIndex, ruleUser } from "./load-balancer-index.ts";
import { userOf } from "./part-user.ts";
import { isRightFrontend } from "./parts.ts";

export function refuseMovesOfShared(
  index: LoadBalancerIndex,
  batch: readonly LoadBalancerFragment[],
): Map<LoadBalancerFragment, Rejection> {
  const refused = new Map<LoadBalancerFragment, Rejection>();
  for (const fragment of batch) {
    const base = fragment.owner.base.toLowerCase();
    for (const wanted of fragment.frontends) {
      const name = wanted.name.toLowerCase();
      const seen = index.frontends.get(name);
      if (seen === undefined || isRightFrontend(seen, wanted)) continue;
      const user = userBeside(index, batch, base, name);
      if (user !== undefined) refused.set(fragment, rejectionOf(wanted.name, user));
    }
  }
  return refused;
}

/** Another user of the frontend that goes on using it after this batch. */
function userBeside(
  index: LoadBalancerIndex,
  batch: readonly LoadBalancerFragment[],
  base: string,
  frontend: string,
): string | undefined {
  const moving = new Set(batch.map(({ owner }) => owner.base.toLowerCase()));
  const staying = (index.users.get(frontend) ?? []).find((user) => user.base !== base && !moving.has(user.base));
  const coming = batch
    .filter(({ owner }) => owner.base.toLowerCase() !== base)
    .flatMap(({ rules }) => rules)
    .find(({ properties }) => frontendOf(properties.frontendIPConfiguration) === frontend);
  const user = staying ?? (coming && ruleUser(coming));
  return user && userOf(user, batch).text;
}

function rejectionOf(frontend: string, user: string): Rejection {
  const message =
    `the Service cannot get another address, because ${user} uses frontend "${frontend}" too: keep the address, ` +
    `or move the other first`;
  return { kind: "rejection", reason: "FrontendShared", message };
}
