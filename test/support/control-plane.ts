/**
 * A real etcd and kube-apiserver on loopback, for tests: `startControlPlane()` answers once `/readyz` says ok and
 * namespace `default` can be read; `close()` stops both and removes what they wrote. There is no controller
 * manager, so nothing collects garbage, empties namespaces or removes a new node's not-ready taint.
 *
 * A free port is only free until another process takes it: a start that finds its port taken is tried again on others.
 */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { type IssuedCertificate, openCertificateAuthority } from "../../sandbox/shared/certificate-authority.ts";
import { type ControlPlaneBinaries, controlPlaneBinaries } from "./control-plane-binaries.ts";
import { connect, writeKubeconfig } from "./kube-connection.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

export interface RunningControlPlane {
  /** Path of a kubeconfig with full rights. */
  readonly kubeconfig: string;
  readonly url: string;
  /** etcd's own address (plain HTTP). */
  readonly etcdUrl: string;
  readonly binaries: ControlPlaneBinaries;
  close(): Promise<void>;
}

const START_ATTEMPTS = 5;
const READY_WITHIN_MS = 180_000;

export interface ControlPlaneOptions {
  /** Where kube-apiserver shall write down each request that it has answered, one JSON object per line. */
  readonly auditLog?: string;
  /** Names of features that kube-apiserver shall do without, as an older one does. */
  readonly without?: readonly string[];
  /** Names of features that it shall have, though they are not on by default; with them their beta APIs of admission. */
  readonly features?: readonly string[];
  /** Names of admission plugins that kube-apiserver shall have besides its own choice. */
  readonly admission?: readonly string[];
  /** Services may have IPv6 addresses too. */
  readonly dualStack?: boolean;
}

export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<RunningControlPlane> {
  const binaries = await controlPlaneBinaries((line) => process.stderr.write(`control plane: ${line}\n`));
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(binaries, options);
    } catch (error) {
      if (attempt === START_ATTEMPTS || !String(error).includes("address already in use")) throw error;
    }
  }
}

async function startOnce(binaries: ControlPlaneBinaries, options: ControlPlaneOptions): Promise<RunningControlPlane> {
  const folder = mkdtempSync(join(tmpdir(), "azlb-control-plane-"));
  const running: ServerProcess[] = [];
  const close = async (): Promise<void> => {
    for (const server of running.toReversed()) await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const [apiPort, clientPort, peerPort] = await freePorts(3);
    const etcdUrl = `http://127.0.0.1:${clientPort}`;
    const url = `https://127.0.0.1:${apiPort}`;
    const etcd = startServer(binaries.etcd, etcdFlags(folder, etcdUrl, `http://127.0.0.1:${peerPort}`));
    running.push(etcd);
    const files = await writeCredentials(folder, url);
    await until(etcd, async () => (await (await fetch(`${etcdUrl}/health`)).text()).includes('"true"'));
    const gates = (options.without ?? []).map((feature) => `--feature-gates=${feature}=false`);
    const features = (options.features ?? []).map((feature) => `--feature-gates=${feature}=true`);
    if (features.length > 0) features.push("--runtime-config=admissionregistration.k8s.io/v1beta1=true");
    const admission = (options.admission ?? []).map((plugin) => `--enable-admission-plugins=${plugin}`);
    const flags = [
      ...apiserverFlags(files, etcdUrl, apiPort ?? 0),
      ...auditFlags(folder, options),
      ...gates,
      ...features,
      ...admission,
      serviceRange(options),
    ];
    const apiserver = startServer(binaries["kube-apiserver"], flags);
    running.push(apiserver);
    await until(apiserver, () => isReady(files.kubeconfig));
    return { kubeconfig: files.kubeconfig, url, etcdUrl, binaries, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function etcdFlags(folder: string, clientUrl: string, peerUrl: string): string[] {
  return [
    "--name=default",
    `--data-dir=${join(folder, "etcd")}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    "--unsafe-no-fsync", // nothing in it outlives the test
    "--log-level=warn",
  ];
}

interface CredentialFiles {
  readonly kubeconfig: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly serviceAccountKey: string;
}

function apiserverFlags(files: CredentialFiles, etcdUrl: string, port: number): string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--secure-port=${port}`,
    `--tls-cert-file=${files.cert}`,
    `--tls-private-key-file=${files.key}`,
    `--client-ca-file=${files.ca}`,
    `--service-account-issuer=https://127.0.0.1:${port}/`,
    `--service-account-key-file=${files.serviceAccountKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    "--authorization-mode=RBAC",
    "--disable-admission-plugins=ServiceAccount", // no controller makes the accounts that pods would need
    "--allow-privileged=true",
    "--anonymous-auth=false",
    "--endpoint-reconciler-type=none",
    "--enable-priority-and-fairness=false",
  ];
}

function serviceRange({ dualStack = false }: ControlPlaneOptions): string {
  return `--service-cluster-ip-range=10.0.0.0/16${dualStack ? ",fd00:10:96::/112" : ""}`;
}

function auditFlags(folder: string, { auditLog }: ControlPlaneOptions): string[] {
  if (auditLog === undefined) return [];
  const policy = join(folder, "audit-policy.yaml");
  const rules = [{ level: "Metadata", omitStages: ["RequestReceived"] }];
  writeFileSync(policy, JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules }));
  return [`--audit-policy-file=${policy}`, `--audit-log-path=${auditLog}`];
}

async function writeCredentials(folder: string, url: string): Promise<CredentialFiles> {
  const authority = await openCertificateAuthority(join(folder, "ca"));
  const server = await authority.issueServer();
  const admin = await authority.issueClient({ user: "admin", groups: ["system:masters"] });
  const files = {
    kubeconfig: join(folder, "kubeconfig"),
    ca: authority.caFile,
    cert: join(folder, "server.crt"),
    key: join(folder, "server.key"),
    serviceAccountKey: join(folder, "service-account.key"),
  };
  writePair(files, server);
  const signing = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  writeFileSync(files.serviceAccountKey, signing.export({ type: "sec1", format: "pem" }), { mode: 0o600 });
  writeKubeconfig(files.kubeconfig, { url, caPem: authority.caPem, certPem: admin.certPem, keyPem: admin.keyPem });
  return files;
}

function writePair(files: CredentialFiles, pair: IssuedCertificate): void {
  writeFileSync(files.cert, pair.certPem);
  writeFileSync(files.key, pair.keyPem, { mode: 0o600 });
}

async function isReady(kubeconfig: string): Promise<boolean> {
  const connection = connect(kubeconfig);
  try {
    const ready = await connection.request("GET", "/readyz");
    return ready.code === 200 && (await connection.request("GET", "/api/v1/namespaces/default")).code === 200;
  } finally {
    await connection.close();
  }
}

/** Asks again and again; not being able to ask is no answer yet, unless the server has ended. */
async function until(server: ServerProcess, holds: () => Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + READY_WITHIN_MS;
  while (!(await holds().catch(() => false))) {
    if (server.ended()) throw new Error(`the server ended while it started:\n${server.output()}`);
    if (Date.now() > deadlineMs) throw new Error(`not ready within ${READY_WITHIN_MS} ms:\n${server.output()}`);
    await delay(100);
  }
}

/** Ports that are free now, all different: each is held until the last is found. */
async function freePorts(count: number): Promise<number[]> {
  const holders = await Promise.all(
    Array.from({ length: count }, async () => {
      const holder = createServer();
      await new Promise<void>((listening) => holder.listen(0, "127.0.0.1", listening));
      return holder;
    }),
  );
  const ports = holders.map((holder) => (holder.address() as AddressInfo).port);
  await Promise.all(holders.map((holder) => new Promise((closed) => holder.close(closed))));
  return ports;
}
