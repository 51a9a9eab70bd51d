/**
 * Applies seed resources to the emulated Azure, one PUT after the other, through the model: a seed that Azure would refuse
 * is refused. docs/emulator.md documents the format of seed files.
 */
import {
  BadInput,
  choiceOf,
  countOf,
  fieldsOf,
  flagOf,
  listOf,
  onlyKeys,
  parseJson,
  textOf,
  type Fields,
} from "../../shared/input.ts";
import { parseMemberTable, type MemberTablePatch } from "../data-plane/member-table.ts";
import type { Account } from "../identity/account.ts";
import type { ArmRequest, Draws } from "../model/index.ts";
import type { AzureStore } from "../store/azure-store.ts";
import type { SeedResource } from "./scope.ts";
import { BACKEND_POOL_TYPES, SKUS, VM_TYPES, type Topology } from "./topology.ts";

/** A seed from a file or from the control endpoint. */
export interface Seed {
  readonly topology: Partial<Topology>;
  readonly resources: readonly SeedResource[];
  /** The member table of the data plane. */
  readonly members: MemberTablePatch;
}

const API_VERSIONS = { network: "2025-05-01", compute: "2025-04-01", resources: "2021-04-01" };

export interface SeedContext {
  readonly store: AzureStore;
  readonly nowMs: () => number;
  readonly guid: () => string;
}

/** Returns the number of PUTs. Operations complete at once, whatever latency is set. */
export function applySeed(resources: readonly SeedResource[], { store, nowMs, guid }: SeedContext): number {
  const draws: Draws = { guid, tailMs: () => 0, retryAfterSeconds: () => undefined };
  for (const { path, body } of resources) {
    const request: ArmRequest = {
      method: "PUT",
      path,
      query: { "api-version": apiVersionFor(path) },
      headers: {},
      body,
      nowMs: nowMs(),
      baseUrl: "https://management.azure.com",
    };
    const { response } = store.handle(request, draws);
    if (response.status >= 300) {
      throw new BadInput(`seed: ${path} was refused with ${response.status}: ${JSON.stringify(response.body)}`);
    }
  }
  return resources.length;
}

function apiVersionFor(path: string): string {
  if (/\/providers\/microsoft\.network\//i.test(path)) return API_VERSIONS.network;
  return /\/providers\//i.test(path) ? API_VERSIONS.compute : API_VERSIONS.resources;
}

/**
 * Reads the documented format: JSON, in which `{subscriptionId}`, `{resourceGroup}` and `{location}` are replaced with the
 * emulator's. Throws `BadInput` that names the key.
 */
export function parseSeed(text: string, account: Account): Seed {
  const filled = text
    .replaceAll("{subscriptionId}", account.subscriptionId)
    .replaceAll("{resourceGroup}", account.resourceGroup)
    .replaceAll("{location}", account.location);
  const fields = fieldsOf(parseJson(filled, "seed"), "seed");
  onlyKeys(fields, ["topology", "resources", "members"], "seed");
  return {
    topology: fields["topology"] === undefined ? {} : parseTopology(fieldsOf(fields["topology"], "seed.topology")),
    resources: listOf(fields["resources"] ?? [], "seed.resources").map(parseResource),
    members: parseMemberTable(fields["members"] ?? {}, "seed.members"),
  };
}

function parseTopology(fields: Fields): Partial<Topology> {
  const where = "seed.topology";
  onlyKeys(fields, ["nodes", "vmType", "backendPool", "sku", "foreign", "dualStack"], where);
  const has = (key: string): boolean => fields[key] !== undefined;
  return {
    ...(has("nodes") ? { nodes: countOf(fields, "nodes", where, 0) } : {}),
    ...(has("vmType") ? { vmType: choiceOf(fields["vmType"], VM_TYPES, `${where}.vmType`) } : {}),
    ...(has("backendPool")
      ? { backendPool: choiceOf(fields["backendPool"], BACKEND_POOL_TYPES, `${where}.backendPool`) }
      : {}),
    ...(has("sku") ? { sku: choiceOf(fields["sku"], SKUS, `${where}.sku`) } : {}),
    ...(has("foreign") ? { foreign: flagOf(fields, "foreign", where) } : {}),
    ...(has("dualStack") ? { dualStack: flagOf(fields, "dualStack", where) } : {}),
  };
}

function parseResource(value: unknown, index: number): SeedResource {
  const where = `seed.resources[${index}]`;
  const fields = fieldsOf(value, where);
  onlyKeys(fields, ["path", "body"], where);
  const path = textOf(fields, "path", where);
  if (!path.startsWith("/subscriptions/")) {
    throw new BadInput(
      `${where}.path must be a resource id that begins with /subscriptions/, not ${JSON.stringify(path)}`,
    );
  }
  return { path, body: fieldsOf(fields["body"], `${where}.body`) };
}
