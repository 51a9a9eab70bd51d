/** Discovery of groups, versions and resources, in the aggregated and the legacy form. */
import type { Answer, JsonObject } from "../contract.ts";
import { groupVersion, type Resource } from "../resource.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const SUBRESOURCE_VERBS: Readonly<Record<string, readonly string[]>> = {
  status: ["get", "patch", "update"],
  finalize: ["update"],
  scale: ["get", "patch", "update"],
  eviction: ["create"],
  token: ["create"],
};
/** The kinds of subresources that are not of their resource's kind. */
const SUBRESOURCE_KINDS: Readonly<Record<string, JsonObject>> = {
  scale: { group: "autoscaling", version: "v1", kind: "Scale" },
  eviction: { group: "policy", version: "v1", kind: "Eviction" },
  token: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" },
};

function verbsOf(resource: Resource): readonly string[] {
  return resource.review === undefined ? VERBS : ["create"];
}

/** Answers a discovery path; undefined for other paths. */
export function discover(path: string, accept: string, resources: readonly Resource[]): Answer | undefined {
  const core = resources.filter((resource) => resource.group === "");
  const named = resources.filter((resource) => resource.group !== "");
  if (path === "/api" || path === "/apis") {
    const ours = path === "/api" ? core : named;
    if (wantsAggregated(accept)) return answer(aggregated(ours), AGGREGATED);
    return answer(path === "/api" ? coreVersions() : groupList(named));
  }
  const group = /^\/apis\/([^/]+)$/.exec(path)?.[1];
  if (group !== undefined) {
    const found = groupsOf(named.filter((resource) => resource.group === group))[0];
    return found && answer({ kind: "APIGroup", apiVersion: "v1", ...found });
  }
  const version = /^\/(?:api\/(v1)|apis\/([^/]+\/[^/]+))$/.exec(path);
  if (version === null) return undefined;
  const asked = version[1] ?? version[2] ?? "";
  const served = resources.filter((resource) => groupVersion(resource) === asked);
  return served.length === 0 ? undefined : answer(resourceList(asked, served));
}

function answer(body: unknown, contentType?: string): Answer {
  return { kind: "answer", status: 200, body, ...(contentType === undefined ? {} : { contentType }) };
}

function wantsAggregated(accept: string): boolean {
  return accept.split(",").some((item) => item.replaceAll(" ", "") === AGGREGATED);
}

function aggregated(resources: readonly Resource[]): JsonObject {
  const groups = new Set(resources.map((resource) => resource.group));
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: [...groups].map((group) => ({
      metadata: group === "" ? {} : { name: group },
      versions: versionsOf(resources, group).map((version) => ({
        version,
        freshness: "Current",
        resources: resources
          .filter((resource) => resource.group === group && resource.version === version)
          .map(aggregatedResource),
      })),
    })),
  };
}

function versionsOf(resources: readonly Resource[], group: string): string[] {
  return [...new Set(resources.filter((resource) => resource.group === group).map((resource) => resource.version))];
}

function aggregatedResource(resource: Resource): JsonObject {
  const responseKind = { group: resource.group, version: resource.version, kind: resource.kind };
  return {
    resource: resource.plural,
    responseKind,
    scope: resource.namespaced ? "Namespaced" : "Cluster",
    singularResource: resource.singular,
    verbs: verbsOf(resource),
    ...(resource.shortNames.length === 0 ? {} : { shortNames: resource.shortNames }),
    ...(resource.categories.length === 0 ? {} : { categories: resource.categories }),
    ...(resource.subresources.length === 0
      ? {}
      : {
          subresources: resource.subresources.map((subresource) => ({
            subresource,
            responseKind: SUBRESOURCE_KINDS[subresource] ?? responseKind,
            verbs: SUBRESOURCE_VERBS[subresource],
          })),
        }),
  };
}

function coreVersions(): JsonObject {
  return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
}

function groupList(resources: readonly Resource[]): JsonObject {
  return { kind: "APIGroupList", apiVersion: "v1", groups: groupsOf(resources) };
}

function groupsOf(resources: readonly Resource[]): JsonObject[] {
  return [...new Set(resources.map((resource) => resource.group))].map((group) => {
    const versions = versionsOf(resources, group).map((version) => ({ groupVersion: `${group}/${version}`, version }));
    return { name: group, versions, preferredVersion: versions[0] };
  });
}

function resourceList(asked: string, resources: readonly Resource[]): JsonObject {
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: asked,
    resources: resources.flatMap((resource) => [
      {
        name: resource.plural,
        singularName: resource.singular,
        namespaced: resource.namespaced,
        kind: resource.kind,
        verbs: verbsOf(resource),
        ...(resource.shortNames.length === 0 ? {} : { shortNames: resource.shortNames }),
        ...(resource.categories.length === 0 ? {} : { categories: resource.categories }),
      },
      ...resource.subresources.map((subresource) => ({
        name: `${resource.plural}/${subresource}`,
        singularName: "",
        namespaced: resource.namespaced,
        kind: resource.kind,
        ...SUBRESOURCE_KINDS[subresource],
        verbs: SUBRESOURCE_VERBS[subresource],
      })),
    ]),
  };
}
