/**
 * Stands in for the incumbent in the plain recordings: does what the user did, and leaves Azure and the Services as the
 * incumbent left them.
 */
import { baseName } from "../../src/core/model/names.ts";
import { placeOfKey, SERVICES } from "../../src/kube/client/resources.ts";
import { IncumbentLeftOver } from "./incumbent-left-over.ts";
import type { Doing, JsonObject, KnownService, RecordedState } from "./incumbent-states.ts";
import type { ServiceRig } from "./service-rig.ts";

export class IncumbentStandIn {
  readonly #rig: ServiceRig;
  readonly #known = new Map<string, KnownService>();
  readonly #alive = new Set<string>();
  readonly #leftOver: IncumbentLeftOver;

  constructor(rig: ServiceRig) {
    this.#rig = rig;
    this.#leftOver = new IncumbentLeftOver(rig, { known: this.#known, alive: this.#alive });
  }

  /** Names of the Services that there are. */
  get services(): readonly string[] {
    return [...this.#alive].map((key) => placeOfKey(key).name);
  }

  /** What the user did. */
  async perform({ apply, annotate, patch, delete: gone }: Doing): Promise<void> {
    if (apply !== undefined) await this.#apply(apply.metadata, apply.spec);
    if (annotate !== undefined) await this.#rig.annotate(...annotate);
    if (patch !== undefined) await this.#rig.patch(...patch);
    for (const key of this.#alive) await this.#note(placeOfKey(key).name);
    if (gone !== undefined) await this.#delete(gone);
  }

  /** What the incumbent made of it. */
  lay(state: RecordedState): Promise<void> {
    return this.#leftOver.lay(state);
  }

  async #apply(metadata: NonNullable<Doing["apply"]>["metadata"], spec: JsonObject): Promise<void> {
    const { name, annotations = {} } = metadata;
    const pinned = spec["loadBalancerIP"];
    const other = typeof pinned === "string" && pinned.startsWith("$svcip:") ? pinned.slice("$svcip:".length) : "";
    const { ingress = [] } = other === "" ? {} : (await this.#rig.service(other)).status.loadBalancer;
    const [address] = ingress;
    await this.#rig.apply({ name, annotations, spec: { ...spec, ...(address && { loadBalancerIP: address.ip }) } });
    this.#alive.add(keyOf(name));
  }

  async #delete(name: string): Promise<void> {
    await this.#rig.patch(name, { metadata: { finalizers: null } });
    await this.#rig.kube.delete(SERVICES, { namespace: "default", name });
    this.#alive.delete(keyOf(name));
  }

  async #note(name: string): Promise<void> {
    const { metadata, spec } = await this.#rig.service(name);
    const nodePorts = spec.ports.map(({ protocol, port, nodePort = 0 }) => ({ protocol, port, nodePort }));
    this.#known.set(keyOf(name), {
      name,
      base: baseName(metadata.uid),
      nodePorts,
      healthPort: spec.healthCheckNodePort,
    });
  }
}

function keyOf(name: string): string {
  return `default/${name}`;
}
