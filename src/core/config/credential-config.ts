/**
 * How to reach Azure Resource Manager and who we are there. `parse-credentials.ts` makes it of an `azure.json` and the
 * environment; only `src/azure` reads it. It holds secrets: never log it.
 */

/** Which Azure; a custom one is found through its `resourceManagerEndpoint`. */
export type CloudName = "AzurePublicCloud" | "AzureChinaCloud" | "AzureUSGovernmentCloud" | "AzureStackCloud";

/** The first that the config has in this order is used. */
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
  /** Nothing given: only an endpoint that asks for no token will answer. */
  | { readonly kind: "none" };

export interface CredentialConfig {
  readonly credential: Credential;
  /** Tenant of the network resources where it is another one than the credential's; secret and certificate only. */
  readonly networkTenantId: string | undefined;
  /** As the config spells it: with a custom endpoint, the name to look for in that endpoint's metadata. */
  readonly cloudName: string;
  readonly cloud: CloudName;
  readonly resourceManagerEndpoint: string | undefined;
  /** Stack's older api-versions are asked for. */
  readonly azureStack: boolean;
  readonly userAgent: string | undefined;
  /** PEM file of a certificate authority to trust beside the usual ones. */
  readonly caFile: string | undefined;
}
