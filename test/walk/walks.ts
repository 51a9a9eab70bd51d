/**
 * The two walks, in the simulation: one Service from its creation to the address in its status, and one taint until the entry
 * of the node is `Down`. `begin` is called when everything before has come to rest, `end` when the outcome is there.
 */
import { ingressOf } from "../../sim/actions/services.ts";
import type { ServiceTemplate } from "../../sim/actions/service-templates.ts";
import { Simulation, type SimulationListener } from "../../sim/environment/simulation.ts";

export interface Observation {
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<void>;
}

const SERVICE = "default/web";
const PLAIN: ServiceTemplate = {
  annotations: {},
  spec: { type: "LoadBalancer", ports: [{ port: 80, protocol: "TCP" }], selector: { app: "web" } },
  isPlain: true,
};
const REST_MS = 75_000;
const STEP_MS = 1;
const MOST_STEPS = 120_000;
const NOTHING = (): void => {};
const LISTENER: SimulationListener = {
  onWrite: NOTHING,
  onSettled: NOTHING,
  onSend: NOTHING,
  onFault: NOTHING,
  onDelivered: NOTHING,
  onFailure: (process, error) => {
    throw new Error(`${process} failed`, { cause: error });
  },
};

async function clusterAtRest(): Promise<Simulation> {
  const setup = {
    vmType: "vmss",
    backendPool: "nodeIP",
    isShared: false,
    isElected: false,
    hasRival: false,
    isWithoutDriftCheck: true,
  } as const;
  const simulation = new Simulation({ seed: 1, setup, keepLines: false });
  simulation.start(LISTENER);
  await simulation.timeline.advance(REST_MS);
  return simulation;
}

async function until(simulation: Simulation, isThere: () => boolean): Promise<void> {
  for (let step = 0; step < MOST_STEPS && !isThere(); step++) await simulation.timeline.advance(STEP_MS);
  if (!isThere()) throw new Error("the walk did not come to its end");
}

const hasAddress = (simulation: Simulation): boolean =>
  ingressOf(simulation.cluster.object("services", SERVICE)).length > 0;

const apply = (simulation: Simulation): void => simulation.perform({ do: "apply", service: SERVICE, template: PLAIN });

export const WALKS = {
  service: async ({ begin, end }: Observation): Promise<void> => {
    const simulation = await clusterAtRest();
    await begin();
    apply(simulation);
    await until(simulation, () => hasAddress(simulation));
    await end();
  },
  taint: async ({ begin, end }: Observation): Promise<void> => {
    const simulation = await clusterAtRest();
    apply(simulation);
    await until(simulation, () => hasAddress(simulation));
    await simulation.timeline.advance(REST_MS);
    await begin();
    simulation.perform({ do: "node", how: "taint", slot: 0, taint: "out-of-service" });
    await until(simulation, () => JSON.stringify([...simulation.azure.state.resources.values()]).includes('"Down"'));
    await end();
  },
} as const;

export type WalkName = keyof typeof WALKS;
