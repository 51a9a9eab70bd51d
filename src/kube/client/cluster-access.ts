/**
 * How a cluster is reached, as data: which server, and where certificates and identity come from. A kubeconfig
 * (`kubeconfig.ts`) and a pod (`in-cluster.ts`) each give one; reading the files that it names is `live-credentials.ts`'s.
 */

/** The kubeconfig, or something that it names, cannot be used. */
export class KubeConfigError extends Error {
  override readonly name = "KubeConfigError";
}

/** A certificate or key: in the kubeconfig itself or in a file; `field` is where the kubeconfig has it. */
export type Material =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "file"; readonly file: string; readonly field: string };

export interface ExecCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly apiVersion: string;
  readonly provideClusterInfo: boolean;
  readonly installHint: string | undefined;
  readonly field: string;
}

export type Identity =
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "tokenFile"; readonly file: string; readonly field: string }
  | { readonly kind: "basic"; readonly username: string; readonly password: string }
  | { readonly kind: "exec"; readonly exec: ExecCommand };

/** One context of a kubeconfig, or what a pod finds in itself. */
export interface ClusterAccess {
  readonly server: string;
  readonly namespace: string;
  readonly proxyUrl?: string | undefined;
  readonly tlsServerName?: string | undefined;
  readonly ca?: Material | undefined;
  readonly cert?: Material | undefined;
  readonly key?: Material | undefined;
  readonly identity: Identity;
}
