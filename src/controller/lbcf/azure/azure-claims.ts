/** The pools and frontends that all LoadBalancers and Binds of `lbcf-azure` claim, from the caches. */
import type { ClusterConfig } from "../../../core/config/cluster-config.ts";
import { type AzureClaim, azureClaim } from "../../../core/lbcf/azure/azure-claims.ts";
import { loadBalancersOf } from "../../../core/lbcf/binds/bind-load-balancers.ts";
import { AZURE_DRIVER } from "../../../core/lbcf/objects/names.ts";
import type { Bind, LoadBalancer } from "../../../core/lbcf/objects/objects.ts";
import { referencedKey } from "../../../core/lbcf/objects/references.ts";
import type { Clock } from "../../../core/util/clock.ts";
import { keyOf } from "../../../kube/client/resources.ts";
import type { LbcfCache } from "../objects/lbcf-cache.ts";

export class AzureClaims {
  readonly #cache: LbcfCache;
  readonly #config: ClusterConfig;
  readonly #clock: Clock;
  /** By stored object: a changed object is another one. */
  readonly #known = new WeakMap<LoadBalancer | Bind, readonly AzureClaim[]>();

  constructor(cache: LbcfCache, config: ClusterConfig, clock: Clock) {
    this.#cache = cache;
    this.#config = config;
    this.#clock = clock;
  }

  all(): readonly AzureClaim[] {
    const driver = referencedKey(AZURE_DRIVER, "");
    const { loadBalancers, binds } = this.#cache;
    return [
      ...loadBalancers.objects.by("driver", driver).flatMap((lb) => this.of(lb)),
      ...binds.objects.by("driver", driver).flatMap((bind) => this.of(bind)),
    ];
  }

  of(object: LoadBalancer | Bind): readonly AzureClaim[] {
    const known = this.#known.get(object);
    if (known !== undefined) return known;
    const loadBalancers = "group" in object ? loadBalancersOf(object, this.#clock.nowMs()) : [object];
    const claims = loadBalancers
      .filter(({ spec }) => spec.lbDriver === AZURE_DRIVER)
      .flatMap((lb) => azureClaim(lb, keyOf(lb), this.#config) ?? []);
    this.#known.set(object, claims);
    return claims;
  }
}
