/** The account of the emulated tenant, with fixed names and credentials. None is secret: the emulator is loopback-only. */

export interface Account {
  readonly tenantId: string;
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  /** Region of the seeded resources. */
  readonly location: string;
  /** The service principal of the cloud config. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** The identity of a managed-identity request without a client id. */
  readonly managedIdentityClientId: string;
  /** The `X-IDENTITY-HEADER` of the App Service managed-identity endpoint. */
  readonly identityHeader: string;
}

export const SANDBOX_ACCOUNT: Account = {
  tenantId: "7e9a9700-0000-4000-8000-000000000001",
  subscriptionId: "5ab5c710-0000-4000-8000-000000000001",
  resourceGroup: "rg",
  location: "westus2",
  clientId: "c11e9700-0000-4000-8000-000000000001",
  clientSecret: "sandbox-secret",
  managedIdentityClientId: "3a9a6ed0-0000-4000-8000-000000000001",
  identityHeader: "sandbox-identity",
};
