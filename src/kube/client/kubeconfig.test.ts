import assert from "node:assert/strict";
import { test } from "node:test";

import { KubeConfigError, type ClusterAccess } from "./cluster-access.ts";
import { parseKubeconfig } from "./kubeconfig.ts";

const PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
const DATA = Buffer.from(PEM).toString("base64");

const GOOD = `
apiVersion: v1
kind: Config
current-context: here
contexts:
- name: here
  context: { cluster: one, user: me, namespace: shop }
- name: there
  context: { cluster: two, user: robot }
clusters:
- name: one
  cluster: { server: "https://10.0.0.1:6443", certificate-authority-data: ${DATA}, tls-server-name: api }
- name: two
  cluster: { server: "https://[::1]:6443/path", certificate-authority: pki/ca.crt, proxy-url: "http://proxy:3128" }
users:
- name: me
  user: { client-certificate-data: ${DATA}, client-key: /keys/me.key }
- name: robot
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: kubelogin
      args: [get-token, --login, msi]
      env: [{ name: A, value: b }]
      provideClusterInfo: true
`;

const parseOne = (text: string, context?: string): ClusterAccess =>
  parseKubeconfig([{ file: "/home/me/.kube/config", text }], context);

test("the current context is read", () => {
  assert.deepEqual(parseOne(GOOD), {
    namespace: "shop",
    server: "https://10.0.0.1:6443",
    proxyUrl: undefined,
    tlsServerName: "api",
    ca: { kind: "text", text: PEM },
    identity: { kind: "none" },
    cert: { kind: "text", text: PEM },
    key: { kind: "file", file: "/keys/me.key", field: "/home/me/.kube/config: users[0].user.client-key" },
  });
});

test("another context can be named; paths are relative to the file, a bare command is not a path", () => {
  const access = parseOne(GOOD, "there");
  assert.equal(access.namespace, "default");
  assert.equal(access.proxyUrl, "http://proxy:3128");
  assert.deepEqual(access.ca, {
    kind: "file",
    file: "/home/me/.kube/pki/ca.crt",
    field: "/home/me/.kube/config: clusters[1].cluster.certificate-authority",
  });
  assert.deepEqual(access.identity, {
    kind: "exec",
    exec: {
      command: "kubelogin",
      args: ["get-token", "--login", "msi"],
      env: { A: "b" },
      apiVersion: "client.authentication.k8s.io/v1beta1",
      provideClusterInfo: true,
      installHint: undefined,
      field: "/home/me/.kube/config: users[1].user.exec.command",
    },
  });
});

test("several files merge: the first entry of a name counts, and keeps its own folder", () => {
  const first = `current-context: c\nclusters:\n- name: k\n  cluster: { server: "https://a", certificate-authority: ca }`;
  const second = `contexts:\n- name: c\n  context: { cluster: k }\nclusters:\n- name: k\n  cluster: { server: "https://b" }`;
  const access = parseKubeconfig([
    { file: "/a/config", text: first },
    { file: "/b/config", text: second },
  ]);
  assert.equal(access.server, "https://a");
  assert.deepEqual(access.ca, {
    kind: "file",
    file: "/a/ca",
    field: "/a/config: clusters[0].cluster.certificate-authority",
  });
});

/** The good kubeconfig with one thing changed, and the one line that says what is wrong with it. */
const BAD: readonly [what: string, before: string | RegExp, after: string, message: string][] = [
  ["no YAML", GOOD, "a: [", "f: not YAML: "],
  ["no map", GOOD, "just text", "f: the file must be a map of fields"],
  ["empty", GOOD, "", "f: the file must be a map of fields"],
  ["no context chosen", "current-context: here", "", "f: current-context is missing: name a context"],
  [
    "an unknown context",
    "current-context: here",
    "current-context: nowhere",
    'f: current-context names context "nowhere", but contexts has no entry of that name',
  ],
  [
    "an unknown cluster",
    "cluster: one",
    "cluster: three",
    'f: contexts[0].context names cluster "three", but clusters has no entry of that name',
  ],
  [
    "an unknown user",
    "user: me,",
    "user: you,",
    'f: contexts[0].context names user "you", but users has no entry of that name',
  ],
  ["no server", "server:", "sever:", "f: clusters[0].cluster.server is missing"],
  [
    "a server that is no URL",
    "https://10.0.0.1:6443",
    "10.0.0.1",
    'f: clusters[0].cluster.server must be an https:// URL, not "10.0.0.1"',
  ],
  [
    "a server whose certificate is not to be verified",
    'server: "https://10.0.0.1:6443"',
    'server: "https://10.0.0.1:6443", insecure-skip-tls-verify: true',
    "f: clusters[0].cluster.insecure-skip-tls-verify is not supported: name the server's authority in certificate-authority",
  ],
  [
    "a number for a string",
    '"https://10.0.0.1:6443"',
    "6443",
    "f: clusters[0].cluster.server must be a string, not 6443",
  ],
  ["data that is no PEM", DATA, "AAAA", "f: clusters[0].cluster.certificate-authority-data must be base64 of PEM"],
  [
    "a certificate without a key",
    ", client-key: /keys/me.key",
    "",
    "f: users[0].user.client-key is missing: client-certificate needs it",
  ],
  [
    "impersonation",
    "client-key: /keys/me.key",
    "client-key: k, as: admin",
    "f: users[0].user.as (impersonation) is not supported: use credentials of that user",
  ],
  [
    "an auth provider",
    "client-key: /keys/me.key",
    "client-key: k, auth-provider: { name: azure }",
    "f: users[0].user.auth-provider is not supported any more: use exec (kubelogin convert-kubeconfig)",
  ],
  ["lists that are none", /clusters:[^]*users:/, "clusters: 5\nusers:", "f: clusters must be a list"],
];

for (const [what, before, after, message] of BAD) {
  test(`one clear line for ${what}`, () => {
    const text = GOOD.replace(before, after);
    assert.notEqual(text, GOOD);
    assert.throws(
      () => parseKubeconfig([{ file: "f", text }]),
      (error) => {
        assert.ok(error instanceof KubeConfigError);
        assert.ok(error.message.startsWith(message), error.message);
        assert.ok(!error.message.includes("\n"));
        return true;
      },
    );
  });
}

test("an exec plugin of a version that we do not speak, or that wants a person, is refused", () => {
  assert.throws(
    () => parseOne(GOOD.replace("k8s.io/v1beta1", "k8s.io/v1alpha1"), "there"),
    /users\[1\]\.user\.exec\.apiVersion must be client\.authentication\.k8s\.io\/v1 or .*, not ".*v1alpha1"/,
  );
  assert.throws(
    () => parseOne(GOOD.replace("command: kubelogin", "command: kubelogin\n      interactiveMode: Always"), "there"),
    /exec\.interactiveMode Always: nobody is there to answer/,
  );
});
