/**
 * Leaves Azure and the Services as the incumbent left them in a recording, without running it: the recorded resources in
 * the emulator under the names that these Services have here, and its finalizer and status on the Services.
 */
import assert from "node:assert/strict";

import type { Ingress } from "../../src/core/model/kubernetes.ts";
import { APPLIED_ANNOTATION } from "../../src/core/service/applied-state.ts";
import { FINALIZER } from "../../src/core/intent/ownership.ts";
import { placeOfKey, SERVICES } from "../../src/kube/client/resources.ts";
import {
  comparable,
  differences,
  realised,
  type KnownService,
  type RealState,
  type RecordedState,
} from "./incumbent-states.ts";
import { propertiesOf, type ServiceRig, type WireBody } from "./service-rig.ts";

/** In the order in which one may name the other. */
const KINDS = ["publicIPAddresses", "loadBalancers", "networkSecurityGroups"] as const;
type Kind = (typeof KINDS)[number];

export interface LeftOverServices {
  /** Every Service that ever was, by `namespace/name`. */
  readonly known: ReadonlyMap<string, KnownService>;
  /** Those that there are. */
  readonly alive: ReadonlySet<string>;
}

export class IncumbentLeftOver {
  readonly #rig: ServiceRig;
  readonly #services: LeftOverServices;
  /** Placeholders and the addresses that have stood for them. */
  #addresses = new Map<string, string>();

  constructor(rig: ServiceRig, services: LeftOverServices) {
    this.#rig = rig;
    this.#services = services;
  }

  /** No controller has taken these Services over. */
  async lay(recorded: RecordedState): Promise<void> {
    const state = Object.fromEntries(
      Object.entries(recorded).filter(([key]) => KINDS.some((kind) => key.startsWith(`${kind}/`))),
    );
    await this.#noteAddresses();
    await this.#removeLoadBalancers(state);
    for (const kind of KINDS) await this.#put(kind, state);
    await this.#remove("publicIPAddresses", state);
    await this.#assertLaid(state);
    for (const name of this.#services.alive) await this.#publish(name);
  }

  /** All of them where a public IP goes from one that stays to another: it cannot stand on both. */
  async #removeLoadBalancers(state: RecordedState): Promise<void> {
    const before = comparable((await this.#rig.list("loadBalancers")) as unknown as RealState, this.#known);
    const holders = (one: RecordedState): Map<string, string> =>
      new Map(
        Object.entries(one).flatMap(([key, body]) =>
          [...JSON.stringify(body).matchAll(/publicIPAddresses\/[^"]+/g)].map(([ref]) => [ref, key] as const),
        ),
      );
    const after = holders(state);
    const moves = [...holders(before)].some(([ref, key]) => after.has(ref) && after.get(ref) !== key && key in state);
    await this.#remove("loadBalancers", moves ? {} : state);
  }

  get #known(): readonly KnownService[] {
    return [...this.#services.known.values()];
  }

  /** The addresses that Azure gave so far stand for the recorded ones. */
  #realised(state: RecordedState): ReturnType<typeof realised> {
    const idOf = (kind: string, name: string): string => this.#rig.networkPath(`${kind}/${name}`);
    const inUse = (placeholder: string): string => this.#addresses.get(this.#real(placeholder)) ?? "0.0.0.0";
    return realised(state, this.#known, idOf, inUse);
  }

  async #put(kind: Kind, state: RecordedState): Promise<void> {
    await this.#noteAddresses();
    for (const { id, ...body } of this.#realised(state)) {
      if (id.split("/").at(-2) === kind) await this.#rig.put(`${kind}/${body.name}`, body);
    }
  }

  async #remove(kind: Kind, state: RecordedState): Promise<void> {
    const staying = new Set(this.#realised(state).map(({ id }) => id.toLowerCase()));
    for (const { id } of await this.#rig.list(kind)) {
      if (staying.has(id.toLowerCase())) continue;
      const { status, text } = await this.#rig.arm.send("DELETE", `${id}?api-version=2026-01-01`);
      assert.ok(status < 300, `DELETE ${id}: ${status} ${text}`);
    }
  }

  /** Azure shows it as it was recorded, so what follows says something. */
  async #assertLaid(state: RecordedState): Promise<void> {
    const lists = await Promise.all(KINDS.map((kind) => this.#rig.list(kind)));
    const real = comparable(lists.flat() as unknown as RealState, this.#known);
    const found = differences(state, real).filter((difference) => !difference.includes('recorded "<released>"'));
    assert.deepEqual(found, []);
  }

  #real(text: string): string {
    return this.#known.reduce((result, { name, base }) => result.replaceAll(`<${name}>`, base), text);
  }

  /** `<ip:{public IP}>` and `<fip:{frontend}>` → the address. */
  async #noteAddresses(): Promise<void> {
    const publicIPs = (await this.#rig.list("publicIPAddresses")).map((body): [string, unknown] => [
      `<ip:${body.name}>`,
      propertiesOf(body)["ipAddress"],
    ]);
    const frontends = (await this.#frontends()).map((frontend): [string, unknown] => [
      `<fip:${frontend.name}>`,
      propertiesOf(frontend)["privateIPAddress"],
    ]);
    const known = [...publicIPs, ...frontends].filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    );
    this.#addresses = new Map([...this.#addresses, ...known]);
  }

  async #frontends(): Promise<WireBody[]> {
    const balancers = await this.#rig.list("loadBalancers");
    return balancers.flatMap((body) => (propertiesOf(body)["frontendIPConfigurations"] ?? []) as WireBody[]);
  }

  /** The incumbent publishes the address of each frontend that a Service's rules stand on, and nothing else. */
  async #publish(name: string): Promise<void> {
    const metadata = { finalizers: [FINALIZER], annotations: { [APPLIED_ANNOTATION]: null } };
    await this.#rig.patch(name, { metadata });
    const ingress = await this.#ingress(this.#services.known.get(name)?.base ?? "");
    const place = { ...placeOfKey(name), subresource: "status" } as const;
    await this.#rig.kube.patch(SERVICES, place, { merge: { status: { loadBalancer: { ingress } } } });
  }

  async #ingress(base: string): Promise<Ingress[]> {
    const balancers = await this.#rig.list("loadBalancers");
    const rules = balancers.flatMap((body) => (propertiesOf(body)["loadBalancingRules"] ?? []) as WireBody[]);
    const own = rules.filter((rule) => rule.name.startsWith(base));
    const used = new Set(own.map((rule) => (propertiesOf(rule)["frontendIPConfiguration"] as { id: string }).id));
    await this.#noteAddresses();
    return (await this.#frontends())
      .filter(({ id }) => used.has(id))
      .map((frontend) => {
        const publicIP = propertiesOf(frontend)["publicIPAddress"] as { id: string } | undefined;
        const key = publicIP === undefined ? `<fip:${frontend.name}>` : `<ip:${publicIP.id.split("/").at(-1)}>`;
        return { ip: this.#addresses.get(key) ?? "" };
      });
  }
}
