import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { VirtualClock } from "../../../test/support/virtual-clock.ts";
import { findCluster } from "./find-cluster.ts";
import { KubeConfigError, type ClusterAccess, type ExecCommand } from "./cluster-access.ts";
import { LiveCredentials } from "./live-credentials.ts";

const dir = mkdtempSync(join(tmpdir(), "azlb-credentials-"));
after(() => rmSync(dir, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

const pem = (what: string): string => `-----BEGIN CERTIFICATE-----\n${what}\n-----END CERTIFICATE-----\n`;
const access = (change: Partial<ClusterAccess>): ClusterAccess => ({
  server: "https://api.test",
  namespace: "default",
  identity: { kind: "none" },
  ...change,
});

test("a rotated token is seen within a minute, and at once when the server refuses the old one", async () => {
  const clock = new VirtualClock();
  const token = file("token", "first\n");
  const credentials = new LiveCredentials(access({ identity: { kind: "tokenFile", file: token, field: "f" } }), clock);
  const bearer = async () => (await credentials.access()).headers["authorization"];
  assert.equal(await bearer(), "Bearer first");
  file("token", "second");
  assert.equal(await bearer(), "Bearer first");
  await clock.advance(60_000);
  assert.equal(await bearer(), "Bearer second");
  file("token", "third");
  assert.equal(credentials.renew(await credentials.access()), true);
  assert.equal(await bearer(), "Bearer third");
});

test("two requests that were refused together renew once, and a server that refuses everything is not obeyed", async () => {
  const clock = new VirtualClock();
  const token = file("token", "first");
  const credentials = new LiveCredentials(access({ identity: { kind: "tokenFile", file: token, field: "f" } }), clock);
  const refused = await credentials.access();
  file("token", "second");
  assert.equal(credentials.renew(refused), true);
  await credentials.access();
  assert.equal(credentials.renew(refused), true, "another request has renewed meanwhile");
  assert.equal(credentials.renew(await credentials.access()), false, "not again so soon");
  await clock.advance(10_000);
  assert.equal(credentials.renew(await credentials.access()), true);
});

test("a token that stands in the kubeconfig cannot be renewed", async () => {
  const credentials = new LiveCredentials(access({ identity: { kind: "token", token: "t" } }), new VirtualClock());
  const refused = await credentials.access();
  assert.deepEqual(refused.headers, { authorization: "Bearer t" });
  assert.equal(credentials.renew(refused), false);
});

test("certificates are read again; the same ones stay the same object, so that connections are kept", async () => {
  const clock = new VirtualClock();
  const ca = { kind: "file", file: file("ca.crt", pem("one")), field: "f" } as const;
  const credentials = new LiveCredentials(access({ ca }), clock);
  const first = await credentials.access();
  assert.equal(first.tls.ca, pem("one"));
  await clock.advance(60_000);
  assert.equal((await credentials.access()).tls, first.tls);
  file("ca.crt", pem("two"));
  await clock.advance(60_000);
  assert.equal((await credentials.access()).tls.ca, pem("two"));
});

test("a file that vanishes for a while does no harm; one that was never there is named", async () => {
  const clock = new VirtualClock();
  const path = file("vanishing", "token");
  const identity = { kind: "tokenFile", file: path, field: "k: users[0].user.tokenFile" } as const;
  const credentials = new LiveCredentials(access({ identity }), clock);
  await credentials.access();
  rmSync(path);
  await clock.advance(60_000);
  assert.equal((await credentials.access()).headers["authorization"], "Bearer token");
  const fresh = new LiveCredentials(access({ identity }), clock);
  await assert.rejects(
    fresh.access(),
    new KubeConfigError(`k: users[0].user.tokenFile ${path} cannot be read: ENOENT`),
  );
});

test("a certificate file without PEM is named", async () => {
  const ca = {
    kind: "file",
    file: file("no.crt", "hello"),
    field: "k: clusters[0].cluster.certificate-authority",
  } as const;
  const credentials = new LiveCredentials(access({ ca }), new VirtualClock());
  await assert.rejects(
    credentials.access(),
    /^KubeConfigError: k: clusters\[0\]\.cluster\.certificate-authority .*is not PEM$/,
  );
});

test("plain HTTP carries no token", async () => {
  const plain = access({ server: "http://127.0.0.1:8080", identity: { kind: "token", token: "secret" } });
  assert.deepEqual((await new LiveCredentials(plain, new VirtualClock()).access()).headers, {});
});

/** A plugin that counts its runs and prints what it is told to. */
function plugin(script: string): ExecCommand {
  const command = file("plugin.sh", `#!/bin/sh\necho run >> ${join(dir, "runs")}\n${script}\n`);
  chmodSync(command, 0o755);
  file("runs", "");
  return {
    command,
    args: [],
    env: { GREETING: "hello" },
    apiVersion: "client.authentication.k8s.io/v1",
    provideClusterInfo: true,
    installHint: "get it from\n somewhere",
    field: "k: users[0].user.exec.command",
  };
}

const credential = (status: object): string =>
  `echo '${JSON.stringify({ kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/v1", status })}'`;

test("a plugin runs once, and again before what it gave expires", async () => {
  const clock = new VirtualClock(Date.parse("2026-01-01T00:00:00Z"));
  const script = credential({ token: "from plugin", expirationTimestamp: "2026-01-01T01:00:00Z" });
  const exec = plugin(script);
  const credentials = new LiveCredentials(access({ identity: { kind: "exec", exec } }), clock);
  const runs = async (): Promise<number> => {
    await credentials.access();
    return readFileSync(join(dir, "runs"), "utf8").trim().split("\n").length;
  };
  assert.equal((await credentials.access()).headers["authorization"], "Bearer from plugin");
  await clock.advance(50 * 60_000);
  assert.equal(await runs(), 1);
  await clock.advance(9 * 60_000);
  assert.equal(await runs(), 2);
  credentials.renew(await credentials.access());
  assert.equal(await runs(), 3);
});

test("a plugin hears about the cluster, and may hand out a certificate", async () => {
  const exec = plugin(`echo "$GREETING $KUBERNETES_EXEC_INFO" > ${join(dir, "heard")}
${credential({ clientCertificateData: "cert", clientKeyData: "key" })}`);
  const credentials = new LiveCredentials(access({ identity: { kind: "exec", exec } }), new VirtualClock());
  const { tls, headers } = await credentials.access();
  assert.equal(tls.cert, "cert");
  assert.equal(tls.key, "key");
  assert.deepEqual(headers, {});
  assert.match(readFileSync(join(dir, "heard"), "utf8"), /^hello \{.*"server":"https:\/\/api\.test"/);
});

const FAILING: readonly [what: string, script: string, message: RegExp][] = [
  ["fails", "echo ignored >&2; echo 'not logged in' >&2; exit 3", /failed with exit code 3: not logged in$/],
  ["prints nothing of use", "echo hello", /printed no ExecCredential$/],
  ["prints no credential", credential({}), /printed neither a token nor a client certificate with its key$/],
];

for (const [what, script, message] of FAILING) {
  test(`a plugin that ${what} is named with its reason`, async () => {
    const identity = { kind: "exec", exec: plugin(script) } as const;
    const failing = new LiveCredentials(access({ identity }), new VirtualClock()).access();
    await assert.rejects(failing, (error) => {
      assert.ok(error instanceof KubeConfigError);
      assert.match(error.message, /^k: users\[0\]\.user\.exec\.command "/);
      assert.match(error.message, message);
      return true;
    });
  });
}

test("a plugin that is not installed is named with the hint of the kubeconfig", async () => {
  const exec = { ...plugin(""), command: "azlb-no-such-plugin" };
  const failing = new LiveCredentials(access({ identity: { kind: "exec", exec } }), new VirtualClock()).access();
  await assert.rejects(failing, /"azlb-no-such-plugin" was not found: get it from somewhere$/);
});

test("a pod finds its own cluster, and its token file", () => {
  const serviceAccountDir = dir;
  file("namespace", "kube-system\n");
  const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
  const cluster = findCluster({ env, homeDir: "/nowhere", serviceAccountDir });
  assert.equal(cluster.server, "https://[fd00::1]:443");
  assert.equal(cluster.namespace, "kube-system");
  assert.deepEqual(cluster.identity, { kind: "tokenFile", file: join(dir, "token"), field: "service account: token" });
});

test("which cluster is meant: the flag, KUBECONFIG, the pod's own, ~/.kube/config; else one clear line", () => {
  const config = (name: string): string =>
    file(
      name,
      `current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, cluster: {server: "https://${name}"}}]`,
    );
  const [flag, variable] = [config("flag"), config("variable")];
  const env = { KUBECONFIG: `/nowhere/at/all:${variable}`, KUBERNETES_SERVICE_HOST: "10.0.0.1" };
  assert.equal(findCluster({ kubeconfig: flag, env, homeDir: dir }).server, "https://flag");
  assert.equal(findCluster({ env, homeDir: dir }).server, "https://variable");
  assert.equal(findCluster({ env: { ...env, KUBECONFIG: "" }, homeDir: dir }).server, "https://10.0.0.1:443");
  assert.throws(
    () => findCluster({ env: {}, homeDir: "/nowhere" }),
    /^KubeConfigError: no cluster: give --kubeconfig FILE/,
  );
  assert.throws(
    () => findCluster({ kubeconfig: "/nowhere/config", env: {}, homeDir: dir }),
    new KubeConfigError("/nowhere/config: the kubeconfig cannot be read: ENOENT"),
  );
});
