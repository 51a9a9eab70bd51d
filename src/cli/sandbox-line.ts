/**
 * What the commands that start a part of the sandbox share: the line of JSON that they print once ready, and the wait for a
 * signal.
 */

/** Paths and URLs; `env` is the environment that another controller needs. */
export interface SandboxLine {
  readonly kubeconfig: string | null;
  readonly cloudConfig: string | null;
  readonly armEndpoint: string | null;
  readonly caFile: string | null;
  readonly subscriptionId: string | null;
  readonly resourceGroup: string | null;
  readonly azureControlUrl: string | null;
  readonly kubeControlUrl: string | null;
  readonly dashboardUrl: string | null;
  readonly metricsUrl: string | null;
  readonly env: Readonly<Record<string, string>>;
}

const NOTHING_RUNS: SandboxLine = {
  kubeconfig: null,
  cloudConfig: null,
  armEndpoint: null,
  caFile: null,
  subscriptionId: null,
  resourceGroup: null,
  azureControlUrl: null,
  kubeControlUrl: null,
  dashboardUrl: null,
  metricsUrl: null,
  env: {},
};

/** One line of JSON with every key; `null` for what is not running. */
export function renderSandboxLine(running: Partial<SandboxLine>): string {
  return `${JSON.stringify({ ...NOTHING_RUNS, ...running })}\n`;
}

/** Resolves on SIGINT or SIGTERM, with which one it was. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve(signal));
  });
}
