/** Plays an example in the sandbox: applies its Services and says, a line each, when they have their addresses. */
import { readFileSync } from "node:fs";

import { parseAllDocuments } from "yaml";

import { projectService } from "../controller/projections.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { SERVICES, type KubeObject } from "../kube/client/resources.ts";
import { openKubeClient } from "./kube-access.ts";
import { realClock } from "./real-clock.ts";

export interface ExampleOptions {
  readonly kubeconfig: string;
  readonly file: string;
  readonly say: (line: string) => void;
  /** Ends the waiting for addresses; nothing more is said then. */
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
const PATIENCE_MS = 60_000;
const INTERNAL = "service.beta.kubernetes.io/azure-load-balancer-internal";

export async function playExample({ kubeconfig, file, say, signal }: ExampleOptions): Promise<void> {
  const { client, close } = openKubeClient({ kubeconfig, userAgent: "azlb-example" });
  try {
    const manifests = parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS() as Manifest);
    await Promise.all(
      manifests.map(async (manifest) => {
        const line = await play(client, manifest, signal);
        if (!signal.aborted) say(line);
      }),
    );
  } finally {
    await close();
  }
}

async function play(client: KubeClient, manifest: Manifest, signal: AbortSignal): Promise<string> {
  const startMs = realClock.monotonicMs();
  const { name, namespace = "default" } = manifest.metadata;
  await create(client, { ...manifest, metadata: { ...manifest.metadata, namespace } });
  const kind = manifest.metadata.annotations?.[INTERNAL] === "true" ? "internal" : "external";
  const ports = manifest.spec.ports.map(({ port }) => port).join(", ");
  while (!signal.aborted && realClock.monotonicMs() - startMs < PATIENCE_MS) {
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
