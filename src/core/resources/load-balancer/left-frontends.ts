/**
 * What becomes of the frontends that one Service leaves when its fragment is merged alone. A decision asks that once for each
 * Service, so it costs what the one Service has, not a pass over the load balancer that it shares with all others.
 */
import type { LoadBalancerFragment } from "./fragment.ts";
import { frontendOf, type FrontendUser, type LoadBalancerIndex, partsOf } from "./load-balancer-index.ts";

/** Names, in lower case, of frontends that are there and that this Service has left: its own, and those it releases. */
export function leftFrontends(index: LoadBalancerIndex, fragment: LoadBalancerFragment): string[] {
  const used = fragment.rules.map(({ properties }) => frontendOf(properties.frontendIPConfiguration));
  const wanted = new Set([...used, ...fragment.frontends.map(({ name }) => name.toLowerCase())]);
  const own = partsOf(index, fragment.owner.base).frontends.map(({ name }) => name.toLowerCase());
  const released = fragment.releases.map((name) => name.toLowerCase()).filter((name) => index.frontends.has(name));
  return [...own, ...released].filter((name) => !wanted.has(name));
}

export function isHeld({ held = [] }: LoadBalancerFragment, name: string): boolean {
  return held.some(({ frontend }) => frontend === name);
}

export function otherUsers(
  index: LoadBalancerIndex,
  fragment: LoadBalancerFragment,
  name: string,
): readonly FrontendUser[] {
  const users = index.users.get(name) ?? [];
  return users.filter(({ base }) => base !== fragment.owner.base.toLowerCase());
}

/** Names, in lower case, of the frontends that go. If they are all there are, the foreign rest may need one of them. */
export function freedFrontends(index: LoadBalancerIndex, fragment: LoadBalancerFragment): ReadonlySet<string> {
  const { shares = [], replaces = [] } = fragment;
  const former = new Set(replaces.map((name) => name.toLowerCase()));
  const isFreed = (name: string): boolean =>
    !shares.includes(name) &&
    !isHeld(fragment, name) &&
    otherUsers(index, fragment, name).every((user) => isRule(user) && former.has(user.name.toLowerCase()));
  return new Set(leftFrontends(index, fragment).filter(isFreed));
}

function isRule({ kind }: FrontendUser): boolean {
  return kind === "load balancing rule";
}

/** Whether the load balancer has a frontend afterwards, whatever else is in it. */
export function keepsFrontend(index: LoadBalancerIndex, fragment: LoadBalancerFragment): boolean {
  return fragment.frontends.length > 0 || index.frontends.size > freedFrontends(index, fragment).size;
}
