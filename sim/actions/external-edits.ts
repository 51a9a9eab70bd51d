/**
 * Edits of Azure by people and other tools. An editor reads a resource, waits, and writes it back with a change. A careful
 * editor writes under the ETag that it has read and starts over once on a conflict; the others overwrite whatever was
 * written meanwhile. The changes themselves are `edited-bodies.ts`: to the editor's own parts (`hand-…`), or to those of
 * the controller, which is drift.
 */
import { objectsOf, propertiesOf, type Json } from "../../sandbox/azure/model/json.ts";
import type { Sku } from "../../sandbox/azure/seed/topology.ts";
import {
  FOREIGN_NAME,
  LOAD_BALANCER_CHANGES,
  pickFrom,
  POOL_CHANGES,
  SECURITY_GROUP_CHANGES,
  tagged,
  withParts,
} from "./edited-bodies.ts";
import type { SimulatedAzure } from "../environment/simulated-azure.ts";
import { publicIPOf } from "../environment/azure-seed.ts";
import type { Timeline } from "../environment/timeline.ts";

/** An edit that is listed twice is drawn twice as often. */
export const EXTERNAL_EDITS = [
  "addParts",
  "addParts",
  "changeParts",
  "dropParts",
  "tag",
  "retimeRules",
  "dropRules",
  "dropFrontend",
  "outbound",
  "addEntry",
  "addEntry",
  "dropEntry",
  "dropNode",
  "setState",
  "addAccess",
  "changeAccess",
  "dropAccess",
  "dropOurAccess",
  "tagPublicIP",
  "deleteLoadBalancer",
] as const;

export interface ExternalEdit {
  readonly by: "person" | "tool";
  readonly how: (typeof EXTERNAL_EDITS)[number];
  /** Chooses among the candidates, modulo their number. */
  readonly which: number;
  /** Writes under the ETag of what was read. */
  readonly isCareful: boolean;
  readonly thinksMs: number;
}

const API_VERSION = { "api-version": "2026-01-01" };

interface BodyEdit {
  readonly path: string;
  /** `undefined`: there is nothing to change. */
  readonly change: (body: Json) => Json | undefined;
}

export interface ExternalEditorsOptions {
  readonly azure: SimulatedAzure;
  readonly timeline: Timeline;
  /** Path of the cluster's network resources. */
  readonly network: string;
  /** SKU of the cluster's load balancers. */
  readonly sku: Sku;
}

export class ExternalEditors {
  readonly #azure: SimulatedAzure;
  readonly #timeline: Timeline;
  readonly #network: string;
  readonly #sku: Sku;

  constructor({ azure, timeline, network, sku }: ExternalEditorsOptions) {
    this.#azure = azure;
    this.#timeline = timeline;
    this.#network = network;
    this.#sku = sku;
  }

  perform(edit: ExternalEdit): void {
    const bodyEdit = this.#bodyEditOf(edit);
    if (bodyEdit !== undefined) this.#write(bodyEdit, edit, 1);
  }

  #write({ path, change }: BodyEdit, edit: ExternalEdit, retries: number): void {
    const { by: caller, isCareful, thinksMs } = edit;
    const { status, body: read } = this.#azure.request({ caller, method: "GET", path, query: API_VERSION });
    if (status !== 200) return;
    const body = change(structuredClone(read) as Json);
    if (body === undefined) return;
    const headers: Record<string, string> = isCareful ? { "if-match": String(body["etag"]) } : {};
    this.#timeline.after(thinksMs, () => {
      const answer = this.#azure.request({ caller, method: "PUT", path, query: API_VERSION, headers, body });
      if (answer.status === 412 && retries > 0) this.#write({ path, change }, edit, retries - 1);
    });
  }

  #bodyEditOf({ by: caller, how, which }: ExternalEdit): BodyEdit | undefined {
    switch (how) {
      case "addAccess":
      case "changeAccess":
      case "dropAccess":
      case "dropOurAccess":
        return {
          path: `${this.#network}/networkSecurityGroups/nsg`,
          change: (body) => SECURITY_GROUP_CHANGES[how](body, which),
        };
      case "tagPublicIP": {
        const path = pickFrom(this.#paths("publicIPAddresses"), which);
        return path === undefined ? undefined : { path, change: (body) => tagged(body, which) };
      }
      case "deleteLoadBalancer": {
        const path = pickFrom(this.#paths("loadBalancers"), which);
        if (path !== undefined && which % 4 === 0) this.#azure.request({ caller, method: "DELETE", path });
        return undefined;
      }
      case "addEntry":
      case "dropEntry":
      case "dropNode":
      case "setState": {
        const pool = pickFrom(this.#pools(), which);
        return pool === undefined ? undefined : { path: pool, change: (body) => POOL_CHANGES[how](body, which) };
      }
      case "addParts": {
        const path = pickFrom(this.#paths("loadBalancers"), which);
        if (path === undefined) return undefined;
        const publicIP = path.endsWith("-internal") ? undefined : this.#makePublicIP(caller, which);
        return {
          path,
          change: (body) => withParts(body, which, { path, publicIP, network: this.#network, sku: this.#sku }),
        };
      }
      case "changeParts":
      case "dropParts":
      case "tag":
      case "retimeRules":
      case "dropRules":
      case "dropFrontend":
      case "outbound": {
        const path = pickFrom(this.#paths("loadBalancers"), which);
        return path === undefined ? undefined : { path, change: (body) => LOAD_BALANCER_CHANGES[how](body, which) };
      }
    }
  }

  #makePublicIP(caller: string, which: number): string {
    const path = `${this.#network}/publicIPAddresses/hand-ip-${which % 3}`;
    const body = { ...publicIPOf(this.#sku, "westus2"), tags: { made: "by hand" } };
    if (!this.#azure.state.resources.has(path.toLowerCase()))
      this.#azure.request({ caller, method: "PUT", path, query: API_VERSION, body });
    return path;
  }

  #paths(type: string): string[] {
    const prefix = `${this.#network}/${type}/`.toLowerCase();
    return [...this.#azure.state.resources.values()]
      .map(({ id }) => id)
      .filter((id) => id.toLowerCase().startsWith(prefix));
  }

  #pools(): string[] {
    return this.#paths("loadBalancers").flatMap((path) => {
      const { body } = this.#azure.state.resources.get(path.toLowerCase()) ?? { body: {} };
      return objectsOf(propertiesOf(body)["backendAddressPools"])
        .map(({ name }) => String(name))
        .filter((name) => !FOREIGN_NAME.test(name))
        .map((name) => `${path}/backendAddressPools/${name}`);
    });
  }
}
