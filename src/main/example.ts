/** Applies the example of the sandbox and reports, one line per Service, when it has its address. */
import { readFileSync } from "node:fs";

import { parseAllDocuments } from "yaml";

import { projectService } from "../controller/projections.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { SERVICES, type KubeObject } from "../kube/client/resources.ts";
import { openKubeClient } from "./kube-access.ts";
import { realClock } from "./real-clock.ts";
import { ensureEndpoints } from "./sandbox-endpoints.ts";

export interface ExampleOptions {
  readonly kubeconfig: string;
  readonly file: string;
  /** Control endpoint of the emulator, where its data plane forwards connections: says how to reach each Service. */
  readonly dataPlane?: string | undefined;
  readonly print: (line: string) => void;
  /** Ends the wait for addresses; nothing is reported afterwards. */
  readonly signal: AbortSignal;
}

interface Manifest {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly ports: readonly { readonly port: number }[] };
  readonly [field: string]: unknown;
}

const POLL_MS = 50;
const TIMEOUT_MS = 60_000;
const INTERNAL = "service.beta.kubernetes.io/azure-load-balancer-internal";

export async function runExample({ kubeconfig, file, dataPlane, print, signal }: ExampleOptions): Promise<void> {
  const { client, close } = openKubeClient({ kubeconfig, userAgent: "azlb-example" });
  try {
    const manifests = parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS() as Manifest);
    await Promise.all(
      manifests.map(async (manifest) => {
        const line = await applyAndWait(client, manifest, signal);
        if (!signal.aborted) print(line);
      }),
    );
    if (dataPlane !== undefined && !signal.aborted) for (const line of await reachLines(dataPlane)) print(line);
  } finally {
    await close();
  }
}

async function applyAndWait(client: KubeClient, manifest: Manifest, signal: AbortSignal): Promise<string> {
  const startMs = realClock.monotonicMs();
  const { name, namespace = "default" } = manifest.metadata;
  await create(client, { ...manifest, metadata: { ...manifest.metadata, namespace } });
  await ensureEndpoints(client, namespace, name);
  const kind = manifest.metadata.annotations?.[INTERNAL] === "true" ? "internal" : "external";
  const ports = manifest.spec.ports.map(({ port }) => port).join(", ");
  while (!signal.aborted && realClock.monotonicMs() - startMs < TIMEOUT_MS) {
    const service = projectService(await client.get<KubeObject>(SERVICES, { namespace, name }));
    const ips = (service.status.loadBalancer.ingress ?? []).map(({ ip }) => ip).join(", ");
    const seconds = ((realClock.monotonicMs() - startMs) / 1000).toFixed(1);
    if (ips !== "") return `  ${name.padEnd(18)} ${kind}  ${ips.padEnd(16)} port ${ports} (after ${seconds} s)`;
    await realClock.sleep(POLL_MS);
  }
  return `  ${name.padEnd(18)} ${kind}  still without an address; kubectl describe service ${name} says why`;
}

async function create(client: KubeClient, manifest: Manifest): Promise<void> {
  try {
    await client.create(SERVICES, manifest);
  } catch (error) {
    if (!isFailure(error, "alreadyExists")) throw error;
  }
}

interface Frontends {
  readonly frontends: readonly {
    readonly address: string;
    readonly port: number;
    readonly protocol: string;
    readonly listener: { readonly host: string; readonly port: number };
  }[];
}

/** The ports on loopback that stand for ports 80 of the load balancers. */
async function reachLines(controlUrl: string): Promise<string[]> {
  const { frontends } = (await (await fetch(`${controlUrl}/data-plane`)).json()) as Frontends;
  return frontends
    .filter(({ port, protocol }) => port === 80 && protocol.toLowerCase() === "tcp")
    .map(
      ({ address, port, listener }) =>
        `  curl http://${listener.host}:${listener.port}   goes through ${address}:${port}`,
    );
}
