/** Who may sign in, and the fixed names of the emulated tenant. None of it is secret: it never leaves loopback. */

export interface Account {
  readonly tenantId: string;
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  /** Region of everything that is seeded. */
  readonly location: string;
  /** The service principal of the cloud config. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** Who a managed-identity request without a client id signs in as. */
  readonly managedIdentityClientId: string;
  /** What the App Service form of the managed-identity endpoint wants in `X-IDENTITY-HEADER`. */
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
