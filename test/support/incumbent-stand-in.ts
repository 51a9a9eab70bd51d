/**
 * Leaves a cluster and its Azure as the incumbent left them in a recording, without running it: Services with its
 * finalizer and status, and the recorded resources in the emulator under the names that these Services have here.
 */
import assert from "node:assert/strict";

import type { Ingress } from "../../src/core/model/kubernetes.ts";
import { baseName } from "../../src/core/model/names.ts";
import { APPLIED_ANNOTATION } from "../../src/core/service/applied-state.ts";
import { FINALIZER } from "../../src/core/intent/ownership.ts";
import { SERVICES } from "../../src/kube/client/resources.ts";
import {
  comparable,
  differences,
  realised,
  type Doing,
  type JsonObject,
  type KnownService,
  type RealState,
  type RecordedState,
} from "./incumbent-states.ts";
import { propertiesOf, type ServiceRig, type WireBody } from "./service-rig.ts";

/** In the order in which one may name the other. */
const KINDS = ["publicIPAddresses", "loadBalancers", "networkSecurityGroups"] as const;
type Kind = (typeof KINDS)[number];

export class IncumbentStandIn {
  readonly #rig: ServiceRig;
  readonly #known = new Map<string, KnownService>();
  readonly #alive = new Set<string>();

  constructor(rig: ServiceRig) {
    this.#rig = rig;
  }

  /** Names of the Services that there are. */
  get services(): readonly string[] {
    return [...this.#alive];
  }

  /** What the user did. */
  async perform({ apply, annotate, patch, delete: gone }: Doing): Promise<void> {
    if (apply !== undefined) await this.#apply(apply.metadata, apply.spec);
    if (annotate !== undefined) await this.#rig.annotate(...annotate);
    if (patch !== undefined) await this.#rig.patch(...patch);
    for (const name of this.#alive) await this.#note(name);
    if (gone !== undefined) await this.#delete(gone);
  }

  /** What the incumbent made of it. No controller has taken these Services over. */
  async lay(state: RecordedState): Promise<void> {
    await this.#remove("loadBalancers", state);
    for (const kind of KINDS) await this.#put(kind, state);
    await this.#remove("publicIPAddresses", state);
    await this.#assertLaid(state);
    for (const name of this.#alive) await this.#publish(name);
  }

  async #apply(metadata: NonNullable<Doing["apply"]>["metadata"], spec: JsonObject): Promise<void> {
    const { name, annotations = {} } = metadata;
    const pinned = spec["loadBalancerIP"];
    const other = typeof pinned === "string" && pinned.startsWith("$svcip:") ? pinned.slice("$svcip:".length) : "";
    const { ingress = [] } = other === "" ? {} : (await this.#rig.service(other)).status.loadBalancer;
    const [address] = ingress;
    await this.#rig.apply({ name, annotations, spec: { ...spec, ...(address && { loadBalancerIP: address.ip }) } });
    this.#alive.add(name);
  }

  async #delete(name: string): Promise<void> {
    await this.#rig.patch(name, { metadata: { finalizers: null } });
    await this.#rig.kube.delete(SERVICES, { namespace: "default", name });
    this.#alive.delete(name);
  }

  async #note(name: string): Promise<void> {
    const { metadata, spec } = await this.#rig.service(name);
    const nodePorts = spec.ports.map(({ protocol, port, nodePort = 0 }) => ({ protocol, port, nodePort }));
    this.#known.set(name, { name, base: baseName(metadata.uid), nodePorts, healthPort: spec.healthCheckNodePort });
  }

  /** The addresses that Azure gave so far stand for the recorded ones. */
  async #realised(state: RecordedState): Promise<ReturnType<typeof realised>> {
    const addresses = await this.#addresses();
    const idOf = (kind: string, name: string): string => this.#rig.networkPath(`${kind}/${name}`);
    const inUse = (placeholder: string): string => addresses.get(this.#real(placeholder)) ?? "0.0.0.0";
    return realised(state, [...this.#known.values()], idOf, inUse);
  }

  async #put(kind: Kind, state: RecordedState): Promise<void> {
    for (const { id, ...body } of await this.#realised(state)) {
      if (id.split("/").at(-2) === kind) await this.#rig.put(`${kind}/${body.name}`, body);
    }
  }

  async #remove(kind: Kind, state: RecordedState): Promise<void> {
    const staying = new Set((await this.#realised(state)).map(({ id }) => id.toLowerCase()));
    for (const { id } of await this.#rig.list(kind)) {
      if (staying.has(id.toLowerCase())) continue;
      const { status, text } = await this.#rig.arm.send("DELETE", `${id}?api-version=2026-01-01`);
      assert.ok(status < 300, `DELETE ${id}: ${status} ${text}`);
    }
  }

  /** Azure shows it as it was recorded, so what follows says something. */
  async #assertLaid(state: RecordedState): Promise<void> {
    const lists = await Promise.all(KINDS.map((kind) => this.#rig.list(kind)));
    const real = comparable(lists.flat() as unknown as RealState, [...this.#known.values()]);
    const found = differences(state, real).filter((difference) => !difference.includes('recorded "<released>"'));
    assert.deepEqual(found, []);
  }

  #real(text: string): string {
    return [...this.#known.values()].reduce((result, { name, base }) => result.replaceAll(`<${name}>`, base), text);
  }

  /** `<ip:{public IP}>` and `<fip:{frontend}>` → the address. */
  async #addresses(): Promise<Map<string, string>> {
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
    return new Map(known);
  }

  async #frontends(): Promise<WireBody[]> {
    const balancers = await this.#rig.list("loadBalancers");
    return balancers.flatMap((body) => (propertiesOf(body)["frontendIPConfigurations"] ?? []) as WireBody[]);
  }

  /** The incumbent publishes the address of each frontend that a Service's rules stand on, and nothing else. */
  async #publish(name: string): Promise<void> {
    const metadata = { finalizers: [FINALIZER], annotations: { [APPLIED_ANNOTATION]: null } };
    await this.#rig.patch(name, { metadata });
    const ingress = await this.#ingress(this.#known.get(name)?.base ?? "");
    const place = { namespace: "default", name, subresource: "status" } as const;
    await this.#rig.kube.patch(SERVICES, place, { merge: { status: { loadBalancer: { ingress } } } });
  }

  async #ingress(base: string): Promise<Ingress[]> {
    const balancers = await this.#rig.list("loadBalancers");
    const rules = balancers.flatMap((body) => (propertiesOf(body)["loadBalancingRules"] ?? []) as WireBody[]);
    const own = rules.filter((rule) => rule.name.startsWith(base));
    const used = new Set(own.map((rule) => (propertiesOf(rule)["frontendIPConfiguration"] as { id: string }).id));
    const addresses = await this.#addresses();
    return (await this.#frontends())
      .filter(({ id }) => used.has(id))
      .map((frontend) => {
        const publicIP = propertiesOf(frontend)["publicIPAddress"] as { id: string } | undefined;
        const key = publicIP === undefined ? `<fip:${frontend.name}>` : `<ip:${publicIP.id.split("/").at(-1)}>`;
        return { ip: addresses.get(key) ?? "" };
      });
  }
}
