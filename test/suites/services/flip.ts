/**
 * A Service that becomes internal and external again, under real connections: at any moment the address in its status
 * serves, because the new side is built and published before the old one goes.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

import type { ClusterOpener } from "../../support/cluster.ts";
import { dataPlaneAt, visit, type DataPlaneUnderTest } from "../../support/data-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { echoBackend, type Backend } from "../../support/loopback-backends.ts";
import { ServiceRig, WITHIN_MS } from "../../support/service-rig.ts";

const NAME = "flip";
const INTERNAL = "azure-load-balancer-internal";
/** Slow enough that clients come by between any two writes. */
const LATENCY = 0.02;
const PAUSE_MS = 5;
/** Clients on the Internet, and those of the virtual network. */
const SOURCES = { outside: "127.0.0.1", inside: "127.0.0.2" };

export function flipSuite(name: string, open: ClusterOpener): void {
  describe(`a Service that flips, on ${name}`, () => {
    let rig: ServiceRig;
    let backend: Backend;
    let client: Client;
    before(async () => {
      rig = await ServiceRig.open(open, { azure: { topology: { nodes: 3 }, dataPlane: true, latency: LATENCY } });
      backend = await echoBackend("node");
      const plane = dataPlaneAt(rig.azure.controlUrl);
      await plane.map(Object.fromEntries(rig.azure.nodes.map(({ ip }) => [ip, { "*": backend.port }])));
      await plane.settings({ sources: { [SOURCES.inside]: "10.240.200.7" }, probeIntervalFactor: 0.02 });
      client = new Client(rig, plane);
    });
    after(async () => {
      await client.stop();
      await backend.close();
      await rig.close();
    });

    test("is served throughout, and leaves nothing behind", async () => {
      const before = await rig.everything();
      await rig.apply({ name: NAME });
      const [outer = ""] = await rig.served(NAME);
      await eventually(() => client.visits(outer), WITHIN_MS);
      client.start();
      await rig.annotate(NAME, { [INTERNAL]: "true" });
      const [inner = ""] = await rig.served(NAME);
      await client.hasReached(inner);
      await rig.annotate(NAME, { [INTERNAL]: null });
      const [outerAgain = ""] = await rig.served(NAME);
      await client.hasReached(outerAgain);
      await client.stop();
      assert.deepEqual(client.outages, []);
      assert.ok(outer !== inner && inner !== outerAgain, "it flipped");
      const told = (await rig.events(NAME)).map(({ message }) => message).join("\n");
      assert.match(
        told,
        new RegExp(`^Ensured load balancer: ${inner} instead of ${outer}\\. Written: .*load balancer`, "m"),
      );
      await rig.delete(NAME);
      assert.deepEqual(await rig.everything(), before);
    });
  });
}

/** Goes to the address in the status, again and again. */
class Client {
  /** Addresses that did not serve although the status said so before and after. */
  readonly outages: string[] = [];
  readonly #reached = new Set<string>();
  readonly #rig: ServiceRig;
  readonly #plane: DataPlaneUnderTest;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(rig: ServiceRig, plane: DataPlaneUnderTest) {
    this.#rig = rig;
    this.#plane = plane;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  /** Rejects when it is not served there. */
  async visits(address: string): Promise<void> {
    const all = await this.#plane.frontends();
    const found = all.find((one) => one.frontend === `${address}:80/tcp`);
    assert.ok(found !== undefined, `nothing listens at ${address}`);
    await visit(found.listener.port, address.startsWith("10.") ? SOURCES.inside : SOURCES.outside);
    this.#reached.add(address);
  }

  hasReached(address: string): Promise<void> {
    return eventually(() => assert.ok(this.#reached.has(address), `no client reached ${address}`), WITHIN_MS);
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const address = await this.#published();
      try {
        await this.visits(address);
      } catch (error) {
        if ((await this.#published()) === address) this.outages.push(`${address}: ${String(error)}`);
      }
      await delay(PAUSE_MS);
    }
  }

  async #published(): Promise<string> {
    const { status } = await this.#rig.service(NAME);
    return (status.loadBalancer.ingress ?? []).map(({ ip }) => ip).join();
  }
}
