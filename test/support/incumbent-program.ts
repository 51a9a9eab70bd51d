/**
 * The incumbent's own program on a rig, started and stopped as its operator would. Knows when it is done with a change: it logs
 * the end of each sync.
 */
import assert from "node:assert/strict";

import { IncumbentProcess } from "../../bench/support/incumbent-process.ts";
import { projectService } from "../../src/controller/projections.ts";
import { isFailure } from "../../src/kube/client/kube-failure.ts";
import { NODES, SERVICES, type KubeObject } from "../../src/kube/client/resources.ts";
import { eventually } from "./eventually.ts";
import { type ServiceRig, WITHIN_MS } from "./service-rig.ts";

/** What tells that a change is dealt with: a sync of this Service, its end, or a sync of the nodes. */
export type Expected = { readonly service: string } | { readonly gone: string } | "nodes";

export class IncumbentProgram {
  readonly #binary: string;
  readonly #rig: ServiceRig;
  readonly #flags: readonly string[];
  #process: IncumbentProcess | undefined;

  constructor(binary: string, rig: ServiceRig, flags: readonly string[] = []) {
    this.#binary = binary;
    this.#rig = rig;
    this.#flags = flags;
  }

  /** Resolves once it has synced everything that there is. */
  async start(): Promise<void> {
    const { azure, cluster } = this.#rig;
    const reach = { kubeconfig: cluster.kubeconfig, cloudConfig: azure.cloudConfigFile, env: azure.env };
    const running = new IncumbentProcess(this.#binary, reach, this.#flags);
    this.#process = running;
    const [services, nodes] = await Promise.all([this.services(), this.#rig.kube.list(NODES, {})]);
    await eventually(() => {
      const late = services.filter((name) => running.syncsOf(`default/${name}`) === 0);
      assert.deepEqual([late, running.nodeSyncs >= nodes.items.length], [[], true], running.said);
    }, WITHIN_MS);
  }

  async stop(): Promise<void> {
    await this.#process?.close();
    this.#process = undefined;
  }

  /** Names of the Services with a load balancer. */
  async services(): Promise<string[]> {
    const { items } = await this.#rig.kube.list<KubeObject>(SERVICES, { namespace: "default" });
    const wanted = items.map(projectService).filter(({ spec }) => spec.type === "LoadBalancer");
    return wanted.map(({ metadata }) => metadata.name).sort();
  }

  /** Does something; the answer waits until the program has dealt with it. */
  async during(expected: Expected, act: () => Promise<unknown>): Promise<() => Promise<void>> {
    const before = this.#countOf(expected);
    await act();
    return async () => {
      await eventually(async () => {
        if (typeof expected === "object" && "gone" in expected) return this.#isGone(expected.gone);
        assert.ok(this.#countOf(expected) > before, `${JSON.stringify(expected)}: ${this.#process?.said ?? "stopped"}`);
      }, WITHIN_MS);
    };
  }

  #countOf(expected: Expected): number {
    if (this.#process === undefined) return 0;
    if (expected === "nodes") return this.#process.nodeSyncs;
    return "service" in expected ? this.#process.syncsOf(`default/${expected.service}`) : 0;
  }

  async #isGone(name: string): Promise<void> {
    const place = { namespace: "default", name };
    await assert.rejects(this.#rig.kube.get(SERVICES, place), (error) => isFailure(error, "notFound"), name);
  }
}
