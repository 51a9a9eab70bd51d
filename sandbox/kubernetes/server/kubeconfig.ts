/** The kubeconfig for kubectl and other clients: certificate authority inline, token as credential, written as JSON. */
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
