/**
 * Secrets stay secret: they are planted wherever the product reads one, every kind of failure is provoked, and nothing
 * that it then says (output of commands, log, events, metrics) may hold one of them, or a token made with them.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { parse } from "yaml";

import type { Log, LogFields } from "../../src/core/log.ts";
import { SILENT_LOG } from "../../src/core/log.ts";
import { EVENTS, SERVICES } from "../../src/kube/resources.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";
import { startSandbox, type RunningSandbox } from "../../src/main/sandbox.ts";
import { managedIdentityToken } from "../contract/azure/arm-http.ts";
import { AzlbProcess } from "../support/azlb-process.ts";
import { openEmbeddedCluster } from "../support/embedded-cluster.ts";
import { eventually } from "../support/eventually.ts";
import { ServiceRig, WITHIN_MS } from "../support/service-rig.ts";

const PLANTED = "pLaNtEd-0f6b";
const dir = mkdtempSync(join(tmpdir(), "azlb-secrets-"));
let sandbox: RunningSandbox;

before(async () => {
  sandbox = await startSandbox({ azure: { topology: { nodes: 1 } }, withController: false, log: SILENT_LOG });
  const { client, close } = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
  const spec = { type: "LoadBalancer", ports: [{ port: 80 }] }; // so that there is something to ask Azure for
  await client.create(SERVICES, { metadata: { namespace: "default", name: "web" }, spec });
  await close();
});
after(async () => {
  await sandbox.close();
  rmSync(dir, { recursive: true, force: true });
});

function file(name: string, text: string): string {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
}

const azureJson = (change: Readonly<Record<string, unknown>> = {}): string =>
  file("azure.json", JSON.stringify({ ...sandbox.azure.cloudConfig, aadClientSecret: `${PLANTED}-secret`, ...change }));

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { server: string; "certificate-authority-data"?: string } }[];
  readonly users: { user: Record<string, unknown> }[];
}

const sandboxKubeconfig = (): Kubeconfig => parse(readFileSync(sandbox.kubeconfig, "utf8")) as Kubeconfig;

/** The sandbox's cluster, with other credentials, and perhaps at another address. */
function kubeconfig(user: Readonly<Record<string, unknown>>, server?: string): string {
  const config = sandboxKubeconfig();
  for (const entry of config.users) entry.user = user;
  for (const { cluster } of config.clusters) cluster.server = server ?? cluster.server;
  return file("kubeconfig", JSON.stringify(config));
}

const TOKEN = { token: `${PLANTED}-token` };
const PLUGIN = { apiVersion: "client.authentication.k8s.io/v1", interactiveMode: "Never", command: "false" };
const base64 = (text: string): string => Buffer.from(text).toString("base64");

interface Case {
  readonly what: string;
  /** What it says instead. */
  readonly says: RegExp;
  readonly kubeconfig?: () => string;
  readonly cloudConfig?: () => string;
  readonly env?: Readonly<Record<string, string>>;
}

const CASES: readonly Case[] = [
  { what: "a secret that Entra ID does not know", says: /AADSTS7000215/ },
  {
    what: "a secret that is no text",
    says: /aadClientSecret is \(hidden\)/,
    cloudConfig: () => azureJson({ aadClientSecret: { is: PLANTED } }),
  },
  {
    what: "a config that breaks off in the secret",
    says: /neither JSON nor YAML/,
    cloudConfig: () => file("azure.json", `{"aadClientSecret": "${PLANTED}`),
  },
  { what: "a config that is no object", says: /not an object/, cloudConfig: () => file("azure.json", `"${PLANTED}"`) },
  {
    what: "a misspelt key of a secret",
    says: /unknown key aadClientSecrets/,
    cloudConfig: () => azureJson({ aadClientSecrets: PLANTED, vmType: "none" }),
  },
  {
    what: "a certificate that is none",
    says: /certificate/,
    cloudConfig: () =>
      azureJson({
        aadClientSecret: undefined,
        useManagedIdentityExtension: false,
        aadClientCertPath: file("cert.pem", PLANTED),
        aadClientCertPassword: PLANTED,
      }),
  },
  {
    what: "a CA that Azure does not have",
    says: /UNABLE_TO_VERIFY/,
    cloudConfig: () => azureJson({ caFile: otherAuthority() }),
  },
  {
    what: "an Azure that does not answer",
    says: /ECONNREFUSED 127\.0\.0\.1:1/,
    cloudConfig: () => azureJson({ resourceManagerEndpoint: "https://127.0.0.1:1" }),
  },
  {
    what: "a proxy with a password that does not answer",
    says: /ECONNREFUSED/,
    env: { HTTPS_PROXY: `http://user:${PLANTED}@127.0.0.1:1`, NO_PROXY: "" },
  },
  { what: "a token that the cluster does not know", says: /401/, kubeconfig: () => kubeconfig(TOKEN) },
  {
    what: "a cluster that does not answer",
    says: /ECONNREFUSED/,
    kubeconfig: () => kubeconfig(TOKEN, "https://127.0.0.1:1"),
  },
  {
    what: "a password in the server's address",
    says: /azlb: /,
    kubeconfig: () => kubeconfig(TOKEN, `https://user:${PLANTED}@127.0.0.1:1`),
  },
  {
    what: "a kubeconfig that breaks off in the token",
    says: /not YAML/,
    kubeconfig: () => file("kubeconfig", `users: [{ user: { token: "${PLANTED}`),
  },
  {
    what: "a key that is none",
    says: /kubeconfig|PEM|key/,
    kubeconfig: () => kubeconfig({ "client-certificate-data": base64(PLANTED), "client-key-data": base64(PLANTED) }),
  },
  {
    what: "a credential plugin that fails",
    says: /false/,
    kubeconfig: () => kubeconfig({ exec: { ...PLUGIN, env: [{ name: "TOKEN", value: PLANTED }], args: [PLANTED] } }),
  },
];

function otherAuthority(): string {
  const data = sandboxKubeconfig().clusters[0]?.cluster["certificate-authority-data"] ?? "";
  return file("other-ca.pem", Buffer.from(data, "base64").toString());
}

for (const { what, says, env = {}, ...files } of CASES) {
  test(`${what}: told without the secret`, async () => {
    const cluster = files.kubeconfig?.() ?? sandbox.kubeconfig;
    const args = ["plan", "--kubeconfig", cluster, "--cloud-config", files.cloudConfig?.() ?? azureJson()];
    const { code, stdout, stderr } = await new AzlbProcess(args, env).ended();
    assert.notEqual(code, 0, `it must fail, to show something: ${stdout}`);
    assert.match(stderr, says);
    assertClean(stdout + stderr, [PLANTED, base64(PLANTED)]);
  });
}

test("a running controller, whatever Azure answers: log, events and metrics hold no secret and no token", async () => {
  const lines: string[] = [];
  const rig = await ServiceRig.open(openEmbeddedCluster);
  try {
    await rig.stop();
    const running = await rig.start(recording(lines));
    for (const effect of FAILURES) {
      await rig.azure.control("DELETE", "/faults");
      const everything = { method: ["PUT", "GET", "POST"], path: "**", count: 6, caller: rig.azure.account.clientId };
      await rig.azure.control("POST", "/faults", { ...everything, effect });
      await rig.azure.control("POST", "/faults", { path: "**/oauth2/**", count: 1, effect });
      const told = lines.length;
      const name = `web-${FAILURES.indexOf(effect)}`;
      await rig.apply({ name });
      await eventually(async () => {
        const board = JSON.stringify(await rig.azure.control("GET", "/faults"));
        assert.match(board, /"hits":[1-9]/, `${effect.kind} was not met`);
        assert.ok(lines.length > told, `${effect.kind}: nothing was said`);
      }, WITHIN_MS);
    }
    await rig.azure.control("DELETE", "/faults");
    const { items } = await rig.kube.list(EVENTS, { namespace: "default" });
    const metrics = await (await fetch(running.metricsUrl)).text();
    const [header = ""] = (await managedIdentityToken(rig.azure)).split(".");
    assert.ok(header.length > 8);
    const said = [...lines, JSON.stringify(items), metrics].join("\n");
    assertClean(said, [rig.azure.account.clientSecret, header, "Bearer "]);
  } finally {
    await rig.close();
  }
});

const FAILURES = [
  { kind: "status", status: 401, code: "ExpiredAuthenticationToken", message: "The access token has expired." },
  { kind: "status", status: 403, code: "AuthorizationFailed", message: "no" },
  { kind: "status", status: 500, code: "InternalServerError", message: "oh" },
  { kind: "cutBefore" },
  { kind: "cutAfter" },
] as const;

function recording(lines: string[]): Log {
  const say = (message: string, fields: LogFields = {}): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { info: say, warn: say, error: say };
}

function assertClean(said: string, secrets: readonly string[]): void {
  for (const secret of secrets) assert.ok(!said.includes(secret), `${secret} is told: ${said}`);
}
