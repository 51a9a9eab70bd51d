/** The kubeconfig that lets kubectl and any client in: the authority inline, the token as credential. */
export interface KubeconfigInput {
  readonly server: string;
  readonly caPem: string;
  readonly token: string;
}

export function renderKubeconfig({ server, caPem, token }: KubeconfigInput): string {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "azlb",
        cluster: { server, "certificate-authority-data": Buffer.from(caPem).toString("base64") },
      },
    ],
    users: [{ name: "azlb-admin", user: { token } }],
    contexts: [{ name: "azlb", context: { cluster: "azlb", user: "azlb-admin" } }],
    "current-context": "azlb",
    preferences: {},
  };
  // JSON is YAML, and every client reads it.
  return `${JSON.stringify(config, null, 2)}\n`;
}
