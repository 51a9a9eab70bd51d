/** The kubeconfig that lets kubectl and any client in: the authority inline, the token as credential. JSON is YAML. */
export interface KubeconfigInput {
  readonly server: string;
  readonly caPem: string;
  readonly token: string;
}

export function kubeconfig({ server, caPem, token }: KubeconfigInput): object {
  const authority = Buffer.from(caPem).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "azlb", cluster: { server, "certificate-authority-data": authority } }],
    users: [{ name: "azlb-admin", user: { token } }],
    contexts: [{ name: "azlb", context: { cluster: "azlb", user: "azlb-admin" } }],
    "current-context": "azlb",
    preferences: {},
  };
}
