/**
 * How the process authenticates to the API server, at this moment. Where that comes from: `find-cluster.ts`; how it stays
 * fresh: `live-credentials.ts`.
 */

/** Handed to TLS as it is. The same object as before means nothing changed. */
export interface TlsMaterial {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly servername?: string | undefined;
}

export interface Access {
  /** The `authorization` header, or none where a client certificate authenticates. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
}

export interface Credentials {
  /** Base URL of the API server. */
  readonly server: string;
  readonly proxyUrl?: string | undefined;
  /** Current access; re-reads what may have been rotated. */
  access(): Promise<Access>;
  /** The server refused that. True if there may be something better now, so that trying again makes sense. */
  renew(refused: Access): boolean;
}
