/** What one look reads of Azure: whether anything was written since, whether anything is under way. */
import type { ArmReader } from "../../azure/cache/resource-lists.ts";
import type { ObservedAzure } from "../../core/resources/observed-azure.ts";
import { partsOf } from "../../core/shadow/parts.ts";

export type AzureRead = Pick<ObservedAzure, "loadBalancers" | "listed" | "securityGroup">;
type Versioned = { readonly id: string; readonly etag?: unknown; readonly properties?: unknown };

function resourcesOf({ loadBalancers, listed, securityGroup }: AzureRead): readonly Versioned[] {
  const lists = Object.values(listed).flatMap((groups) => [...groups.values()].flat());
  return [...loadBalancers, ...lists, ...(securityGroup === undefined ? [] : [securityGroup])];
}

/** Equal while no client writes. */
export function versionsOf(azure: AzureRead): string {
  const versions = resourcesOf(azure).map(({ id, etag }) => [id.toLowerCase(), etag]);
  return JSON.stringify([versions, [...partsOf(azure).keys()]]);
}

/** An operation of any client is under way. */
export function isBusy(azure: AzureRead): boolean {
  return resourcesOf(azure).some(({ properties }) => {
    const hasState = typeof properties === "object" && properties !== null && "provisioningState" in properties;
    return hasState && (properties.provisioningState === "Updating" || properties.provisioningState === "Deleting");
  });
}

/** Remembers what is read by `get`, which is the region's zones: they never change, and each look has a mirror of its own. */
export function withOneZoneRead(arm: ArmReader): ArmReader {
  const answers = new Map<string, Promise<unknown>>();
  return {
    find: (id, options) => arm.find(id, options),
    list: (path, options) => arm.list(path, options),
    get: async <Body>(id: string, options: Parameters<ArmReader["get"]>[1]): Promise<Body> => {
      const known = answers.get(id);
      if (known !== undefined) return known as Promise<Body>;
      const asked = arm.get<Body>(id, options);
      answers.set(id, asked);
      return asked.catch((error: unknown) => {
        answers.delete(id);
        throw error;
      });
    },
  };
}
