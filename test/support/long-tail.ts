/**
 * The recordings of the incumbent's rarer settings: several load balancers, private link services, NIC pools, migrations,
 * probe modes. Each has a cloud config, a seed, steps and the state after each step. Reads them, and says where the
 * controller differs on purpose. How their steps are carried out is `long-tail-rig.ts`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Topology } from "../../sandbox/azure/index.ts";
import type { JsonObject, RecordedState } from "./incumbent-states.ts";

const FOLDER = join(import.meta.dirname, "..", "fixtures", "incumbent-states", "long-tail");

interface LongTailManifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: JsonObject;
}

/** An EndpointSlice with an endpoint on each of these nodes. */
export type SliceDoing = readonly [
  service: string,
  nodes: readonly string[],
  more?: { readonly suffix?: string; readonly family?: string; readonly conditions?: JsonObject },
];

/** One of the verbs, and how it should end. */
export interface LongTailDoing {
  /** A Service or a Namespace. `spec.loadBalancerIP` may be `$svcip:{name}`: the address that another Service has. */
  readonly apply?: LongTailManifest;
  /** Keys without `service.beta.kubernetes.io/`. */
  readonly annotate?: readonly [name: string, annotations: Readonly<Record<string, string | null>>];
  readonly patch?: readonly [name: string, patch: JsonObject];
  readonly delete?: string;
  /** A write of another client. */
  readonly arm?: readonly [method: string, path: string, body?: JsonObject];
  readonly slice?: SliceDoing;
  readonly deleteSlice?: readonly [service: string, suffix?: string] | string;
  /** A merge patch of a Node; `null` deletes it. */
  readonly node?: readonly [name: string, patch: JsonObject | null];
  /** Other keys of the cloud config from now on. */
  readonly restart?: JsonObject;
  /** The incumbent refused it. */
  readonly fail?: boolean;
  /** The Service has no address afterwards. */
  readonly pending?: boolean;
  /** Namespace of the Service. */
  readonly ns?: string;
}

interface LongTailStep {
  readonly do: LongTailDoing;
  /** Absent where the step was not watched. */
  readonly state: RecordedState | undefined;
  /** What the controller comes to, but for the differences that are meant. */
  readonly expected: RecordedState | undefined;
}

export interface LongTailScenario {
  readonly name: string;
  /** Changes of the sandbox's cloud config. */
  readonly azureJson: JsonObject;
  readonly sandbox: {
    /** Scale set `vmss2` with two instances and their Nodes. */
    readonly secondSet?: boolean;
    /** Resource group `rg2`, and a subnet `links` whose private link policies are on. */
    readonly links?: boolean;
    /** Merge patches of Nodes. */
    readonly nodes?: Readonly<Record<string, JsonObject>>;
    /** Other machines than a uniform scale set, Basic, or machines with IPv6: in other scenarios only the Nodes have it. */
    readonly topology?: Partial<Topology>;
  };
  readonly steps: readonly LongTailStep[];
}

interface Recording extends Omit<LongTailScenario, "steps"> {
  readonly does: readonly LongTailDoing[];
  readonly recorded: readonly { readonly state: RecordedState }[];
}

/** Nodes of a load balancer that went join the ones that are left at once; the incumbent leaves them in no pool. */
const JOINED_AT_ONCE = [/\[kubernetes(-IPv6)?\]\.properties\.loadBalancerBackendAddresses: recorded/];
/** A node leaves or joins its pool as soon as its label says so. */
const NODE_AT_ONCE = [/\[kubernetes\]\.properties\.(backendIPConfigurations|loadBalancerBackendAddresses): recorded/];

/**
 * By scenario: steps after which the incumbent does nothing until the next one, which only touches the Service. The
 * controller comes to the state of that next step at once.
 */
const DONE_AT_ONCE: Readonly<Record<string, readonly number[]>> = {
  "multi-label-added-later": [1],
  "multi-move-blocked-by-sharer": [3],
  "multi-namespace-selector": [3],
  "multi-node-selector": [4, 6],
};

/**
 * By scenario and number of the step, from 0: differences from the recorded state. Each is a defect of the incumbent, and
 * stands in docs/differences.md.
 */
const MENDED: Readonly<Record<string, Readonly<Record<number, readonly RegExp[]>>>> = {
  // Azure's migration leaves the VNet on each entry; the incumbent moves it to the pool at its next sync.
  "migrate-nic-to-ip-by-api": { 2: [/^loadBalancers\/kubernetes\..*\.virtualNetwork: /] },
  "multi-annotation-several": { 3: JOINED_AT_ONCE, 4: JOINED_AT_ONCE },
  "multi-closed-later": { 5: JOINED_AT_ONCE, 6: JOINED_AT_ONCE },
  "multi-dual-stack": { 2: JOINED_AT_ONCE },
  "multi-label-selector": { 4: JOINED_AT_ONCE },
  "multi-node-selector": { 8: JOINED_AT_ONCE },
  "multi-primary-set": { 2: JOINED_AT_ONCE },
  "multi-restart": { 5: JOINED_AT_ONCE },
  "multi-shared-address": { 4: JOINED_AT_ONCE },
  "multi-spread": { 8: JOINED_AT_ONCE },
  // A Service that cannot have a private link service, or asks for it wrongly, is refused before anything is written.
  "pls-bad-count-nine": { 0: [/^(loadBalancers|scaleSets)\/[^ ]+: recorded, but not found$/] },
  "pls-external": {
    0: [/^(loadBalancers|publicIPAddresses|scaleSets)\/[^ ]+: recorded, but not found$/, /^networkSecurityGroups\/nsg/],
  },
  // The cluster's pool on a load balancer that another client made is filled before a Service is there.
  "preconfigured-external-pool-there": { 3: [/^scaleSets\/vmss: not recorded$/] },
  // A private link service whose owner goes belongs to the next Service on its address, which may change it.
  "pls-shared-address-both": {
    2: [/k8s-azure-owner-service: recorded "default\/sb-a", found "default\/sb-b"$/],
    3: [/k8s-azure-owner-service: recorded "default\/sb-a", found "default\/sb-b"$/],
  },
  // A node leaves and joins as soon as its label says so; the incumbent waits for a sync of the Service, and takes an
  // excluding label with the value false for one.
  "node-excluded-nic": { 2: NODE_AT_ONCE, 3: NODE_AT_ONCE, 4: NODE_AT_ONCE },
  "node-unmanaged-nic": { 1: NODE_AT_ONCE, 4: NODE_AT_ONCE },
};

/** By scenario: steps that the incumbent refuses by a defect, and the controller carries out. */
const SERVED: Readonly<Record<string, readonly number[]>> = { "pls-shared-address-both": [3] };

export function isRefused({ name }: LongTailScenario, step: number, { fail }: LongTailDoing): boolean {
  return fail === true && SERVED[name]?.includes(step) !== true;
}

/** A take-over puts right at once what the incumbent has left undone. */
export function isLeftWrong(scenario: string, step: number): boolean {
  return MENDED[scenario]?.[step] !== undefined || DONE_AT_ONCE[scenario]?.includes(step) === true;
}

export function readLongTail(): LongTailScenario[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".json"));
  const names = files.map((file) => file.slice(0, -".json".length)).sort();
  return names.map(readOne);
}

/** Writes of other clients were not watched; all other steps were, in their order. */
function readOne(name: string): LongTailScenario {
  const text = readFileSync(join(FOLDER, `${name}.json`), "utf8");
  const { does, recorded, azureJson, sandbox } = JSON.parse(text) as Recording;
  const watched = recorded.values();
  const recordedSteps = does.map((doing) => ({
    do: doing,
    state: doing.arm ? undefined : watched.next().value?.state,
  }));
  const steps = recordedSteps.map((step, at) => {
    const next = DONE_AT_ONCE[name]?.includes(at) === true ? recordedSteps[at + 1] : undefined;
    return { ...step, expected: (next ?? step).state };
  });
  return { name, azureJson, sandbox, steps };
}

/** Differences that no entry of `MENDED` explains. */
export function unexplained(scenario: string, step: number, found: readonly string[]): string[] {
  const known = MENDED[scenario]?.[step] ?? [];
  return found.filter((difference) => !known.some((one) => one.test(difference)));
}
