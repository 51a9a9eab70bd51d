/**
 * Which api-version each type of resource is requested with: the newest stable one known here, because an older one hides
 * newer fields, and a field that a read does not show is lost by the next write. A cloud that lacks a version refuses it,
 * and gets the next older one from then on. Azure Stack has only old ones.
 */

export type ApiProfile = "current" | "azureStack";

/** First pattern that fits `provider/type` decides. Newest version first. */
const VERSIONS: Readonly<Record<ApiProfile, readonly (readonly [RegExp, readonly string[]])[]>> = {
  current: [
    // network resources of scale sets live under compute, with a version of their own
    [/^microsoft\.compute\/virtualmachinescalesets\b.*\/(networkinterfaces|publicipaddresses)/, ["2018-10-01"]],
    [/^microsoft\.network\//, ["2026-01-01", "2025-05-01", "2024-05-01", "2022-07-01"]],
    [/^microsoft\.compute\//, ["2026-04-01", "2025-04-01", "2024-07-01"]],
    [/^microsoft\.authorization\//, ["2022-04-01", "2018-07-01", "2015-07-01"]],
    [/^/, ["2021-04-01"]],
  ],
  azureStack: [
    [/^microsoft\.network\/privatelinkservices/, ["2019-03-01"]],
    [/^microsoft\.network\//, ["2018-11-01"]],
    [/^microsoft\.compute\/virtualmachinescalesets\b.*\/(networkinterfaces|publicipaddresses)/, ["2018-10-01"]],
    [/^microsoft\.compute\/virtualmachines\b/, ["2017-12-01"]],
    [/^microsoft\.compute\//, ["2019-07-01"]],
    [/^microsoft\.authorization\//, ["2015-07-01"]],
    [/^/, ["2021-04-01"]],
  ],
};

export class ApiVersions {
  readonly #profile: ApiProfile;
  readonly #refused = new Set<string>();

  constructor(profile: ApiProfile) {
    this.#profile = profile;
  }

  /** `type` as `typeOf` gives it. */
  of(type: string): string {
    return this.#usable(type)[0] ?? this.#known(type).at(-1) ?? "";
  }

  /** The cloud does not know this version of that type. True where an older one is left to try. */
  refused(type: string, version: string): boolean {
    this.#refused.add(`${type.toLowerCase()} ${version}`);
    return this.#usable(type).length > 0;
  }

  #usable(type: string): readonly string[] {
    return this.#known(type).filter((version) => !this.#refused.has(`${type.toLowerCase()} ${version}`));
  }

  #known(type: string): readonly string[] {
    return versionsOf(this.#profile, type);
  }
}

/** All that may be asked for, newest first. */
export function versionsOf(profile: ApiProfile, type: string): readonly string[] {
  return VERSIONS[profile].find(([pattern]) => pattern.test(type.toLowerCase()))?.[1] ?? [];
}

/** `Microsoft.Network/loadBalancers/backendAddressPools` of any path below a provider; the path itself for others. */
export function typeOf(path: string): string {
  const below = /\/providers\/([^/?]+)\/([^?]+)/i.exec(path);
  if (below === null) return /^\/subscriptions\/[^/]+\/([^/?]+)/i.exec(path)?.[1] ?? path;
  const types = (below[2] ?? "").split("/").filter((_, at) => at % 2 === 0);
  return [below[1], ...types].join("/");
}
