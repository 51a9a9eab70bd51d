/**
 * What every command that starts a part of the sandbox has in common: the line of facts that it prints once ready, and
 * the wait for its end.
 */

/** Paths, URLs, and under `env` the environment that a guest controller needs. */
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

/** One line of JSON with every key, `null` for what isn't running. */
export function renderSandboxLine(running: Partial<SandboxLine>): string {
  return `${JSON.stringify({ ...NOTHING_RUNS, ...running })}\n`;
}

/** Resolves on Ctrl-C or when asked to terminate. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
