/**
 * The embedded Kubernetes API in this process: composes the pure model with its HTTPS server.
 *
 *   await using kubernetes = await startKubernetes({ nodes: [{ name: "node-0", internalIPs: ["10.240.0.4"] }] });
 */
import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openCertificateAuthority } from "../shared/certificate-authority.ts";
import { type ClusterNode, seedCluster } from "./seed.ts";
import { parseCidr } from "./model/cidr.ts";
import { EmbeddedApi } from "./model/embedded-api.ts";
import type { ServiceRanges } from "./model/service-ranges.ts";
import { renderKubeconfig } from "./server/kubeconfig.ts";
import { listen } from "./server/kube-server.ts";
import { WatchHub } from "./server/watch-hub.ts";

export type { ClusterNode } from "./seed.ts";

export interface KubernetesOptions {
  /** 0, the default: any free port. */
  readonly port?: number;
  /** Where state, authority and kubeconfig live; default: a temporary directory that goes with the server. */
  readonly dataDir?: string;
  /** Nodes to register if they are not there yet. */
  readonly nodes?: readonly ClusterNode[];
  /** Whether Services may have IPv6 addresses too; default true. */
  readonly dualStack?: boolean;
  /** Where complaints go; default: stderr. */
  readonly log?: (line: string) => void;
}

export interface RunningKubernetes extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** Path of the certificate that clients trust. */
  readonly caFile: string;
  /** Path of a kubeconfig that works with an unmodified kubectl. */
  readonly kubeconfig: string;
  /** The model itself, for whoever runs in the same process. */
  readonly api: EmbeddedApi;
  close(): Promise<void>;
}

/** kubectl dispatchers run the kubectl of this minor; clients skew by at most one without a warning. */
const VERSION = { major: "1", minor: "33", gitVersion: "v1.33.0-azlb" };

export async function startKubernetes(options: KubernetesOptions = {}): Promise<RunningKubernetes> {
  const log = options.log ?? ((line: string) => void process.stderr.write(`${line}\n`));
  const directory = options.dataDir ?? mkdtempSync(join(tmpdir(), "azlb-kube-"));
  mkdirSync(directory, { recursive: true });
  const authority = await openCertificateAuthority(join(directory, "pki"));
  const certificate = await authority.issueServer();
  const token = randomBytes(24).toString("base64url");
  const api = new EmbeddedApi({
    clock: { nowMs: () => Date.now() },
    draws: { uuid: randomUUID, integer: (below) => randomInt(below) },
    ranges: serviceRanges(options.dualStack ?? true),
    version: VERSION,
  });
  seedCluster(api, options.nodes ?? []);
  const watches = new WatchHub(api);
  const { server, port } = await listen({
    port: options.port ?? 0,
    ...certificate,
    caPem: authority.caPem,
    token,
    handle: (request) => Promise.resolve(api.request(request)),
    watches,
    log,
  });
  const url = `https://127.0.0.1:${port}`;
  const kubeconfig = join(directory, "kubeconfig");
  writeFileSync(kubeconfig, renderKubeconfig({ server: url, caPem: authority.caPem, token }), { mode: 0o600 });
  const close = async (): Promise<void> => {
    watches.cut("close");
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    if (options.dataDir === undefined) rmSync(directory, { recursive: true, force: true });
  };
  return { url, token, caFile: authority.caFile, kubeconfig, api, close, [Symbol.asyncDispose]: close };
}

function serviceRanges(dualStack: boolean): ServiceRanges {
  const ipv4 = parseCidr("10.0.0.0/16");
  const ipv6 = parseCidr("fd00:10::/112");
  if (ipv4 === undefined || ipv6 === undefined) throw new Error("unreachable: the ranges are constants");
  return dualStack
    ? { families: ["IPv4", "IPv6"], cidrs: { IPv4: ipv4, IPv6: ipv6 } }
    : { families: ["IPv4"], cidrs: { IPv4: ipv4 } };
}
