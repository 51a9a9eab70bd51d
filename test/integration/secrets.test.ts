/**
 * Secrets stay secret: they are planted wherever the product reads one, every kind of failure is provoked, and nothing
 * that it then says (output of every command, log, events, metrics) may hold one of them, or a token made with them.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { parse } from "yaml";

import type { Log, LogFields } from "../../src/core/util/log.ts";
import { SILENT_LOG } from "../../src/core/util/log.ts";
import type { KubeClient } from "../../src/kube/client/kube-client.ts";
import { EVENTS, SECRETS, SERVICES } from "../../src/kube/client/resources.ts";
import { startController } from "../../src/main/controller.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";
import { startSandbox, type RunningSandbox } from "../../src/main/sandbox.ts";
import { managedIdentityToken } from "../contract/azure/arm-http.ts";
import { AzlbProcess } from "../support/azlb-process.ts";
import { campaign } from "../support/campaign.ts";
import { eventually } from "../support/eventually.ts";
import { FaultControl } from "../support/fault-control.ts";
import { WITHIN_MS } from "../support/service-rig.ts";

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
    says: /azlb: |ECONNREFUSED/,
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

/** A secret of the cluster whose cloud config is kept there. */
const IN_THE_CLUSTER = ["--cloud-config-secret-name", "broken"];

const COMMANDS: readonly (readonly string[])[] = [["plan"], ["explain", "service/web"]];

for (const [at, { what, says, env = {}, ...files }] of CASES.entries()) {
  // both read the same files by the same functions, so that in `npm test` they take turns
  const commands = campaign({ sample: COMMANDS.slice(at % 2, (at % 2) + 1), long: COMMANDS });
  test(`${what}: told without the secret, by the controller and ${commands.map(([name]) => name).join(" and ")}`, async () => {
    const cluster = files.kubeconfig?.() ?? sandbox.kubeconfig;
    const flags = ["--kubeconfig", cluster, "--cloud-config", files.cloudConfig?.() ?? azureJson()];
    const [log, ...told] = await Promise.all([
      controllerLog(flags, env, says),
      ...commands.map((command) => new AzlbProcess([...command, ...flags], env).ended()),
    ]);
    for (const { code, stdout, stderr } of told) {
      assert.notEqual(code, 0, `it must fail, to show something: ${stdout}`);
      assert.match(stderr, says);
    }
    const said = [log, ...told.flatMap(({ stdout, stderr }) => [stdout, stderr])].join("\n");
    assertClean(said, [PLANTED, base64(PLANTED)]);
  });
}

test("a cloud config in the cluster that breaks off in the secret: told without it", async () => {
  const { client, close } = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
  const metadata = { namespace: "kube-system", name: "broken" };
  await client.create(SECRETS, { metadata, data: { "cloud-config": base64(`{"aadClientSecret": "${PLANTED}`) } });
  await close();
  const flags = ["--kubeconfig", sandbox.kubeconfig, ...IN_THE_CLUSTER];
  const { code, stdout, stderr } = await new AzlbProcess(["plan", ...flags]).ended();
  assert.notEqual(code, 0);
  assert.match(stderr, /neither JSON nor YAML/);
  assertClean(stdout + stderr, [PLANTED, base64(PLANTED)]);
});

/** What a controller says until it has said this, or has ended. */
async function controllerLog(flags: readonly string[], env: Readonly<Record<string, string>>, says: RegExp) {
  const listening = ["--leader-elect=false", "--bind-address=127.0.0.1", "--health-port=0"];
  const controller = new AzlbProcess(["controller", ...flags, ...listening], env);
  await Promise.race([controller.says(says), controller.ended()]);
  const { stdout, stderr } = await controller.end("SIGTERM");
  return stdout + stderr;
}

for (const side of ["Azure", "Kubernetes"] as const) {
  test(`a running controller, whatever ${side} answers: log, events, metrics, plan and explanation hold no secret and no token`, async () => {
    const lines: string[] = [];
    const files = { kubeconfig: sandbox.kubeconfig, cloudConfig: sandbox.azure.cloudConfigFile };
    const running = await startController({
      kubeconfig: files.kubeconfig,
      cloudConfig: { kind: "file", path: files.cloudConfig },
      clusterName: "kubernetes",
      env: {},
      leaderElect: false,
      log: recording(lines),
    });
    const { client, close } = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
    try {
      const echo = `who is Bearer ${await tokenOf(side)}?`;
      for (const [at, effect] of failures(echo).entries()) {
        const name = `${side.toLowerCase()}-${at}`;
        await suffer(client, side, effect, name);
        if (side === "Kubernetes" || effect.kind !== "status") continue; // mostly dealt with in silence
        const isTold = (): boolean => lines.some((line) => line.includes("Failed") && line.includes(`default/${name}`));
        await eventually(() => assert.ok(isTold(), `nothing was said of ${name}`), WITHIN_MS);
      }
      await sandboxFaults(side).clear();
      const { items } = await client.list(EVENTS, {});
      const metrics = await (await fetch(running.metricsUrl)).text();
      const flags = ["--kubeconfig", files.kubeconfig, "--cloud-config", files.cloudConfig];
      const plan = await new AzlbProcess(["plan", ...flags]).ended();
      const explanation = await new AzlbProcess(["explain", "service/web", ...flags]).ended();
      const said = [...lines, JSON.stringify(items), metrics, plan.stdout, explanation.stdout].join("\n");
      assert.ok(lines.length > 0 && items.length > 0, "something was said");
      assertClean(said, await secretsOf(sandbox));
    } finally {
      await sandboxFaults(side).clear();
      await close();
      await running.close();
    }
  });
}

/** A Service comes while every request is answered so. */
async function suffer(client: KubeClient, side: Side, effect: Effect, name: string): Promise<void> {
  const faults = sandboxFaults(side);
  const method = ["GET", "PUT", "POST", "PATCH", "DELETE"];
  await faults.clear();
  if (side === "Azure") {
    const count = effect.kind === "status" ? null : 6; // until it is told, or as long as it is borne
    await faults.arm({ method, path: "/subscriptions/**", count, effect });
    if (effect["status"] === 401) await faults.arm({ method, path: "**/oauth2/**", effect }); // it signs in anew
  } else {
    await faults.arm({ method, path: "/api/v1/namespaces/*/services/**", count: 6, effect });
  }
  const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
  await client.create(SERVICES, { metadata: { namespace: "default", name }, spec });
  await eventually(async () => {
    const board = JSON.stringify(await faults.send("GET", "/faults"));
    assert.match(board, /"hits":[1-9]/, `${effect.kind} was not met`);
  }, WITHIN_MS);
}

type Side = "Azure" | "Kubernetes";

function sandboxFaults(side: Side): FaultControl {
  return new FaultControl(side === "Azure" ? sandbox.azure.controlUrl : (sandbox.kubeControlUrl ?? ""));
}

/** What signs us in, and how every token of Azure begins. */
async function secretsOf({ azure }: RunningSandbox): Promise<string[]> {
  const token = sandboxKubeconfig().users.map(({ user }) => String(user["token"]));
  const [header = ""] = (await managedIdentityToken(azure)).split(".");
  const secrets = [azure.account.clientSecret, header, ...token];
  for (const secret of secrets) assert.ok(secret.length > 8, "a secret that could be found by chance");
  return secrets;
}

type Effect = { readonly kind: string; readonly [key: string]: unknown };

/** One of the answers repeats what it was sent. */
function failures(echo: string): readonly Effect[] {
  return [
    { kind: "status", status: 403, message: echo },
    { kind: "status", status: 500, message: echo },
    { kind: "cutBefore" },
    { kind: "cutAfter" },
    { kind: "status", status: 401, message: "The access token has expired." },
  ];
}

async function tokenOf(side: Side): Promise<string> {
  if (side === "Azure") return managedIdentityToken(sandbox.azure);
  return String(sandboxKubeconfig().users[0]?.user["token"]);
}

function recording(lines: string[]): Log {
  const say = (message: string, fields: LogFields = {}): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { info: say, warn: say, error: say };
}

function assertClean(said: string, secrets: readonly string[]): void {
  for (const secret of secrets) assert.ok(!said.includes(secret), `${secret} is told: ${said}`);
}
