/**
 * How long a namespace's new Services take to be served while 25 Services of another namespace never settle and Azure
 * throttles, compared with the time that they take alone under the same throttling. In virtual time, with the real
 * controller: the same figures on every machine.
 */
import { baseName } from "../../src/core/model/names.ts";
import { ingressOf } from "../actions/services.ts";
import { Simulation, type SimulationListener } from "../environment/simulation.ts";
import { throughStorm, type Storm } from "./storm.ts";

const STORMY_SERVICES = 25;
const NEW_SERVICES = 8;
const STORMY = "default";
const QUIET = "apps";
/** Between two new Services; the first comes after as long. */
const APART_MS = 60_000;
/** As a load balancer's or a public IP's takes as a rule. */
const OPERATION_MS = 3_000;
const POLL_MS = 100;
/** A Service that is not served by then counts with that time. */
const PATIENCE_MS = 1_800_000;
const SETUP = { vmType: "vmss", backendPool: "nodeIP", isShared: false, isElected: false, hasRival: false } as const;
const NO_LISTENER: SimulationListener = {
  onWrite: () => {},
  onSettled: () => {},
  onSend: () => {},
  onFault: () => {},
  onDelivered: () => {},
  onFailure: (process, error) => {
    throw new Error(`${process} failed`, { cause: error });
  },
};

export interface Fairness {
  /** The mean, in virtual time, until a new Service has its address. */
  readonly aloneSeconds: number;
  /** Beside the storm, compared with alone. */
  readonly meanRatio: number;
  readonly slowestRatio: number;
}

export async function measureFairness(storm: Storm, seed: number): Promise<Fairness> {
  const alone = await secondsToServe(undefined, seed);
  const beside = await secondsToServe(storm, seed);
  const ratio = (of: (seconds: readonly number[]) => number): number => of(beside) / of(alone);
  return { meanRatio: ratio(mean), slowestRatio: ratio((seconds) => Math.max(...seconds)), aloneSeconds: mean(alone) };
}

/** Of each new Service, until it has its address. */
async function secondsToServe(storm: Storm | undefined, seed: number): Promise<number[]> {
  const simulation = new Simulation({
    seed,
    setup: SETUP,
    keepLines: false,
    bug: {
      does: "nothing wrong: Azure is the one that refuses",
      arm: (transport, { cluster }) =>
        throughStorm(transport, simulation, storm, (text) =>
          cluster.objects("services").some(({ metadata: { namespace, uid } }) => {
            return namespace === STORMY && uid !== undefined && text.includes(baseName(uid));
          }),
        ),
    },
  });
  const { users, cluster, timeline, azure } = simulation;
  azure.operationMs = OPERATION_MS;
  simulation.start(NO_LISTENER);
  await timeline.advance(1_000);
  if (storm !== undefined)
    for (let at = 0; at < STORMY_SERVICES; at++) users.apply(`${STORMY}/storm-${at}`, template(at));
  const seconds: number[] = [];
  for (let at = 0; at < NEW_SERVICES; at++) {
    await timeline.advance(APART_MS);
    const service = `${QUIET}/new-${at}`;
    const startMs = timeline.elapsedMs;
    users.apply(service, template(at));
    const isServed = (): boolean => ingressOf(cluster.object("services", service)).length > 0;
    while (!isServed() && timeline.elapsedMs - startMs < PATIENCE_MS) await timeline.advance(POLL_MS);
    seconds.push((timeline.elapsedMs - startMs) / 1000);
  }
  const settled = cluster.objects("services").filter(({ metadata: { namespace } }) => namespace === STORMY);
  if (settled.some((service) => ingressOf(service).length > 0)) throw new Error("a Service of the storm was served");
  return seconds;
}

function template(at: number) {
  const spec = { type: "LoadBalancer", ports: [{ name: "http", protocol: "TCP", port: 80 + at, targetPort: 80 }] };
  return { annotations: {}, spec, isPlain: true };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
