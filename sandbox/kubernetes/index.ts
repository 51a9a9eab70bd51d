/**
 * Starts the embedded Kubernetes API in this process: the composition root of `sandbox/kubernetes`. It joins the pure
 * model with its HTTPS server, its journal and its control endpoint, and provides clock and randomness.
 *
 *   await using kubernetes = await startKubernetes({ nodes: [{ name: "node-0", internalIPs: ["10.240.0.4"] }] });
 */
import { randomBytes, randomInt, randomUUID } from "node:crypto";
import type { Server } from "node:http";

import { openCertificateAuthority } from "../shared/certificate-authority.ts";
import { type DataDirectory, openDataDirectory } from "../shared/data-directory.ts";
import { portAllocator } from "../shared/port-allocator.ts";
import type { ApiRequest, Change, TokenAuthority } from "./model/contract.ts";
import { EmbeddedApi } from "./model/embedded-api.ts";
import { sandboxRanges } from "./model/service-ranges.ts";
import { type ClusterNode, seedCluster } from "./seed.ts";
import { listenForControl } from "./server/control-endpoint.ts";
import { type Durable, openDurable } from "./server/durable.ts";
import { kubeFaults } from "./server/faults.ts";
import { listen } from "./server/kube-server.ts";
import { kubeconfig } from "./server/kubeconfig.ts";
import { driveLoops } from "./server/loop-driver.ts";
import { openTokenAuthority } from "./server/service-account-tokens.ts";
import { FaultInjectingApi } from "./server/fault-injecting-api.ts";
import { WatchHub } from "./server/watch-hub.ts";

export type { ClusterNode } from "./seed.ts";

export interface KubernetesOptions {
  /** Absent or 0: the port of the last start in the same directory, else a free one. */
  readonly port?: number;
  readonly controlPort?: number;
  /** Directory of state, authority and kubeconfig; default: state in memory, the rest in a temporary directory. */
  readonly dataDir?: string;
  /** Nodes to create if they do not exist. */
  readonly nodes?: readonly ClusterNode[];
  /** Whether Services may have IPv6 addresses too; default true. */
  readonly dualStack?: boolean;
  /** Whether garbage is collected and namespaces are emptied; default true. */
  readonly controllers?: boolean;
  /** Whether nodes become Ready, pods run and EndpointSlices follow; default false. */
  readonly simulate?: boolean;
  /** Starts from a damaged journal, without its damaged record and those after it. */
  readonly acceptJournalLoss?: boolean;
  /** Receives errors of the server; default: stderr. */
  readonly log?: (line: string) => void;
}

export interface RunningKubernetes extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** Path of the certificate that clients trust. */
  readonly caFile: string;
  /** Path of a kubeconfig that works with an unmodified kubectl. */
  readonly kubeconfig: string;
  /** The control endpoint, which injects faults: docs/embedded-kubernetes.md. */
  readonly controlUrl: string;
  /** The model, for callers in the same process. */
  readonly api: EmbeddedApi;
  close(): Promise<void>;
}

/** kubectl dispatchers pick the kubectl of this minor version; kubectl warns about a skew of more than one. */
const VERSION = { major: "1", minor: "33", gitVersion: "v1.33.0-azlb" };

const nowMs = (): number => Date.now();

export async function startKubernetes(options: KubernetesOptions = {}): Promise<RunningKubernetes> {
  const closers: (() => void | Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const running = await start(options, (end) => closers.push(end));
    return { ...running, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Registers a closer for each part; the caller runs them in reverse order, also if a later part fails to start. */
async function start(
  options: KubernetesOptions,
  atEnd: (end: () => void | Promise<void>) => void,
): Promise<Omit<RunningKubernetes, "close" | typeof Symbol.asyncDispose>> {
  const log = options.log ?? ((line: string) => void process.stderr.write(`${line}\n`));
  const directory = openDataDirectory(options.dataDir);
  atEnd(() => directory.dispose());
  const tokens = openTokenAuthority(directory);
  const api = openApi(directory, { ...options, log }, tokens, atEnd);
  seedCluster(api, options.nodes ?? []);
  const loops = driveLoops(api, { controllers: true, simulate: false, ...options, log }, nowMs);
  atEnd(() => loops.stop());
  const authority = await openCertificateAuthority(directory.pki);
  const token = storedToken(directory);
  const watches = new WatchHub(api);
  const faultInjection = new FaultInjectingApi(api, kubeFaults());
  const serverOptions = {
    ...(await authority.issueServer()),
    caPem: authority.caPem,
    credentials: { token, tokens, state: api.state },
    handle: (request: ApiRequest) => faultInjection.request(request),
    watches,
    log,
  };
  const ports = portAllocator(directory);
  const serving = await ports.listen("kube", options.port, (port) => listen({ ...serverOptions, port }));
  atEnd(() => closeServer(serving.server));
  atEnd(() => void watches.cut("close"));
  const control = await ports.listen("kubeControl", options.controlPort, (port) =>
    listenForControl({ api, faultInjection, watches }, port),
  );
  atEnd(() => closeServer(control.server));
  const url = `https://127.0.0.1:${serving.port}`;
  return {
    url,
    token,
    caFile: authority.caFile,
    kubeconfig: directory.write("kubeconfig", kubeconfig({ server: url, caPem: authority.caPem, token })),
    controlUrl: `http://127.0.0.1:${control.port}`,
    api,
  };
}

/** The model, restored from the state directory if there is one, to which it then journals its changes. */
function openApi(
  { state }: DataDirectory,
  {
    dualStack = true,
    acceptJournalLoss: acceptLoss = false,
    log,
  }: KubernetesOptions & { readonly log: (line: string) => void },
  tokens: TokenAuthority,
  atEnd: (end: () => void) => void,
): EmbeddedApi {
  let durable: Durable | undefined;
  const api = new EmbeddedApi({
    clock: { nowMs },
    draws: { uuid: randomUUID, integer: (below) => randomInt(below) },
    ranges: sandboxRanges(dualStack),
    version: VERSION,
    tokens,
    record: (changes: readonly Change[]) => durable?.record(changes),
  });
  if (state !== undefined) durable = openDurable(state, api, { acceptLoss, log: (line) => log(`kube: ${line}`) });
  atEnd(() => durable?.close());
  return api;
}

function storedToken(directory: DataDirectory): string {
  const known = directory.read("kube-token.json");
  if (typeof known === "string") return known;
  const token = randomBytes(24).toString("base64url");
  directory.write("kube-token.json", token);
  return token;
}

function closeServer(server: Pick<Server, "close" | "closeAllConnections">): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
