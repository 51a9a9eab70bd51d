/**
 * A client that edits one Azure resource over and over through the official SDK: reads it whole, adds a part of its own
 * (named `hand-…`), drops its oldest, writes it back. Every other time it is slow, and others write before it.
 * Records what it has written, and tells when Azure has something else.
 */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";

import type { NetworkClient } from "../contract/azure/azure-under-test.ts";

const OWN = "hand-";
/** How many parts of one kind it keeps at a time. */
const KEPT = 4;
const SLOW_MS = 500;
const FILLED_IN = new Set(["etag", "provisioningState", "loadBalancingRules"]);
const POLLING = { updateIntervalInMs: 20 };

type Part = Readonly<Record<string, unknown>> & { readonly name?: string };
/** Parts by the list that they stand in. */
type Parts = Readonly<Record<string, readonly Part[]>>;
type Body = Record<string, unknown> & { readonly etag?: string };

interface Resource {
  readonly lists: readonly string[];
  get(): Promise<Body>;
  put(body: Body, headers: Record<string, string>): Promise<unknown>;
  /** Its parts in the nth round, in a resource that looks so. */
  parts(round: number, seen: Body): Parts;
}

export class SecondWriter {
  /** Writes based on a version that was no longer current: refused with If-Match, else a loss for others. */
  staleWrites = 0;
  /** Edits that Azure accepted. */
  edits = 0;
  readonly #resource: Resource;
  readonly #ifMatch: boolean;
  #written: Parts;
  #isOver = false;
  #running: Promise<void> = Promise.resolve();

  private constructor(resource: Resource, { ifMatch }: { ifMatch: boolean }) {
    this.#resource = resource;
    this.#ifMatch = ifMatch;
    this.#written = Object.fromEntries(resource.lists.map((list) => [list, []]));
  }

  static ofLoadBalancer(network: NetworkClient, group: string, name: string, how: { ifMatch: boolean }): SecondWriter {
    const { loadBalancers, publicIPAddresses } = network;
    const resource: Resource = {
      lists: ["frontendIPConfigurations", "probes", "loadBalancingRules"],
      get: async () => ({ ...(await loadBalancers.get(group, name)) }),
      put: (body, customHeaders) =>
        loadBalancers.beginCreateOrUpdateAndWait(group, name, body, { ...POLLING, requestOptions: { customHeaders } }),
      parts: (round, seen) => balancerParts(round, String(seen["id"]), address),
    };
    let address = "";
    const editor = new SecondWriter(resource, how);
    editor.#prepare = async () => {
      const made = await publicIPAddresses.beginCreateOrUpdateAndWait(group, "hand-address", {
        location: "westus2",
        sku: { name: "Standard" },
        publicIPAllocationMethod: "Static",
      });
      address = made.id ?? "";
    };
    return editor;
  }

  static ofSecurityGroup(network: NetworkClient, group: string, name: string, how: { ifMatch: boolean }): SecondWriter {
    const { networkSecurityGroups } = network;
    const resource: Resource = {
      lists: ["securityRules"],
      get: async () => ({ ...(await networkSecurityGroups.get(group, name)) }),
      put: (body, customHeaders) =>
        networkSecurityGroups.beginCreateOrUpdateAndWait(group, name, body, {
          ...POLLING,
          requestOptions: { customHeaders },
        }),
      parts: (round) => ({ securityRules: [securityRule(round)] }),
    };
    return new SecondWriter(resource, how);
  }

  /** Resolves after the first write. */
  async start(): Promise<void> {
    await this.#prepare();
    await this.#edit(0);
    assert.equal(this.edits, 1, "their first edit was not taken");
    this.#running = this.#keepEditing();
    this.#running.catch(() => {}); // told by stop
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  /** Everything of theirs is there as they wrote it last, and nothing that they dropped has come back. */
  async assertWhole(): Promise<void> {
    assert.deepEqual(this.#ownOf(await this.#resource.get()), this.#written);
  }

  #prepare = (): Promise<void> => Promise.resolve();

  async #keepEditing(): Promise<void> {
    for (let round = 1; !this.#isOver; round++) await this.#edit(round);
  }

  async #edit(round: number): Promise<void> {
    const seen = await this.#resource.get();
    const own = this.#ownOf(seen);
    assert.deepEqual(own, this.#written, `round ${round}: something of theirs is lost or changed`);
    const wanted = this.#changed(own, this.#resource.parts(round, seen));
    const body: Body = { ...seen };
    for (const list of this.#resource.lists) {
      const others = (seen[list] as readonly Part[] | undefined) ?? [];
      body[list] = [...others.filter(({ name }) => !isOwn(name)), ...(wanted[list] ?? [])];
    }
    if (round % 2 === 1 && (await this.#isOvertaken(seen))) this.staleWrites++;
    const failure = await this.#resource.put(body, this.#ifMatch ? { "If-Match": seen.etag ?? "" } : {}).then(
      () => undefined,
      (error: unknown) => error,
    );
    await this.#learn(wanted, failure);
  }

  /** Has another client written meanwhile? Waits a little for it; the first time for as long as it takes. */
  async #isOvertaken({ etag }: Body): Promise<boolean> {
    const deadlineMs = this.staleWrites === 0 ? Number.POSITIVE_INFINITY : performance.now() + SLOW_MS;
    while (performance.now() < deadlineMs && !this.#isOver) {
      if ((await this.#resource.get()).etag !== etag) return true;
      await delay(10);
    }
    return false;
  }

  /** A write whose operation was overtaken is applied nevertheless: what Azure has says whether it was. */
  async #learn(wanted: Parts, failure: unknown): Promise<void> {
    const found = this.#ownOf(await this.#resource.get());
    if (namesOf(found) === namesOf(wanted)) {
      this.#written = found;
      this.edits++;
      return;
    }
    assert.ok(failure !== undefined, "what was written without an error is not there");
    assert.deepEqual(found, this.#written, "something of theirs is lost or changed");
  }

  #changed(own: Parts, added: Parts): Parts {
    const entries = this.#resource.lists.map((list) => {
      const kept = (own[list] ?? []).filter(({ name }) => !(added[list] ?? []).some((part) => part.name === name));
      return [list, [...kept.slice(-(KEPT - 1)), ...(added[list] ?? [])]] as const;
    });
    return Object.fromEntries(entries);
  }

  #ownOf(body: Body): Parts {
    const entries = this.#resource.lists.map((list) => {
      const parts = (body[list] as readonly Part[] | undefined) ?? [];
      return [list, parts.filter(({ name }) => isOwn(name)).map(lasting)] as const;
    });
    return Object.fromEntries(entries);
  }
}

const isOwn = (name: string | undefined): boolean => name?.startsWith(OWN) === true;

function namesOf(parts: Parts): string {
  return JSON.stringify(
    Object.entries(parts).map(([list, items]) => [
      list,
      items.map(({ name = "" }) => name).toSorted((one, other) => one.localeCompare(other)),
    ]),
  );
}

/** As it was written: without its version, state, and the lists of who refers to it, which Azure fills in. */
function lasting(part: Part): Part {
  return Object.fromEntries(Object.entries(part).filter(([key]) => !FILLED_IN.has(key)));
}

/** One frontend, and in each round a probe and a rule more. */
function balancerParts(round: number, balancer: string, address: string): Parts {
  const frontend = { name: "hand-frontend", publicIPAddress: { id: address } };
  const probe = {
    name: `hand-probe-${round}`,
    protocol: "Tcp",
    port: 1000 + round,
    intervalInSeconds: 7,
    numberOfProbes: 2,
  };
  const rule = {
    name: `hand-rule-${round}`,
    protocol: "Tcp",
    frontendPort: 10_000 + (round % 20_000),
    backendPort: 4000 + (round % 20_000),
    idleTimeoutInMinutes: 9,
    enableFloatingIP: false,
    frontendIPConfiguration: { id: `${balancer}/frontendIPConfigurations/hand-frontend` },
    probe: { id: `${balancer}/probes/${probe.name}` },
  };
  return { frontendIPConfigurations: [frontend], probes: [probe], loadBalancingRules: [rule] };
}

/** People take the high numbers, out of the way of those that ours start from. */
function securityRule(round: number): Part {
  return {
    name: `hand-rule-${round}`,
    priority: 4096 - (round % 16),
    direction: "Inbound",
    access: "Allow",
    protocol: "Tcp",
    sourceAddressPrefix: `192.0.2.${round % 256}`,
    sourcePortRange: "*",
    destinationAddressPrefix: "10.240.0.4",
    destinationPortRange: String(20_000 + (round % 20_000)),
    description: "by hand",
  };
}
