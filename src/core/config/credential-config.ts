/**
 * How to reach Azure Resource Manager, and the identity to use there. `parse-credentials.ts` creates it from an
 * `azure.json` and the environment; only `src/azure` reads it. It holds secrets: never log it.
 */

/** The Azure cloud; a custom one is found through its `resourceManagerEndpoint`. */
export type CloudName = "AzurePublicCloud" | "AzureChinaCloud" | "AzureUSGovernmentCloud" | "AzureStackCloud";

/** In order of precedence: the first that the config has is used. */
export type Credential =
  | {
      readonly kind: "workloadIdentity";
      readonly tenantId: string;
      readonly clientId: string;
      readonly tokenFile: string;
    }
  | {
      readonly kind: "managedIdentity";
      /** `undefined`: the system-assigned one. */
      readonly userAssigned: { readonly by: "resourceId" | "clientId"; readonly id: string } | undefined;
    }
  | { readonly kind: "secret"; readonly tenantId: string; readonly clientId: string; readonly secret: string }
  | {
      readonly kind: "certificate";
      readonly tenantId: string;
      readonly clientId: string;
      readonly path: string;
      readonly password: string | undefined;
    }
  /** No credential: works only with an endpoint that needs no token. */
  | { readonly kind: "none" };

export interface CredentialConfig {
  readonly credential: Credential;
  /** Tenant of the network resources where it differs from the credential's; secret and certificate only. */
  readonly networkTenantId: string | undefined;
  /** As spelt in the config: with a custom endpoint, the name to look for in that endpoint's metadata. */
  readonly cloudName: string;
  readonly cloud: CloudName;
  readonly resourceManagerEndpoint: string | undefined;
  /** Use the older API versions of Azure Stack. */
  readonly azureStack: boolean;
  readonly userAgent: string | undefined;
  /** PEM file of an additional certificate authority to trust. */
  readonly caFile: string | undefined;
}
