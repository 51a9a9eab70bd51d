/** Reads the endpoint and credentials of Azure from an `azure.json`, with overrides from the environment. */
import type { ConfigReader } from "./config-reader.ts";
import type { CloudName, Credential, CredentialConfig } from "./credential-config.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const CLOUDS: ReadonlyMap<string, CloudName> = new Map([
  ["", "AzurePublicCloud"],
  ["azurecloud", "AzurePublicCloud"],
  ["azurepubliccloud", "AzurePublicCloud"],
  ["azurechinacloud", "AzureChinaCloud"],
  ["azureusgovernment", "AzureUSGovernmentCloud"],
  ["azureusgovernmentcloud", "AzureUSGovernmentCloud"],
  ["azurestackcloud", "AzureStackCloud"],
]);

export function parseCredentials(read: ConfigReader, environment: Environment): CredentialConfig {
  const tenantId = environment["AZURE_TENANT_ID"] || read.text("tenantId");
  const credential = chooseCredential(read, environment, tenantId);
  if (tenantId === "" && credential.kind !== "managedIdentity" && credential.kind !== "none") {
    read.errors.push("tenantId is missing: give the tenant of the credentials (or AZURE_TENANT_ID)");
  }
  const networkTenantId = read.text("networkResourceTenantID");
  return {
    credential,
    networkTenantId: sameText(networkTenantId, tenantId) ? undefined : networkTenantId || undefined,
    cloudName: read.text("cloud"),
    cloud: parseCloud(read),
    resourceManagerEndpoint: read.text("resourceManagerEndpoint") || undefined,
    azureStack: isAzureStack(read),
    userAgent: read.text("userAgent") || undefined,
    caFile: read.text("caFile") || undefined,
  };
}

/** Workload identity, managed identity, secret, certificate: the first that is configured. */
function chooseCredential(read: ConfigReader, environment: Environment, tenantId: string): Credential {
  const clientId = environment["AZURE_CLIENT_ID"] || read.text("aadClientId");
  const tokenFile = environment["AZURE_FEDERATED_TOKEN_FILE"] || read.text("aadFederatedTokenFile");
  const useWorkload = read.flag("useFederatedWorkloadIdentityExtension", false);
  if (useWorkload || environment["AZURE_FEDERATED_TOKEN_FILE"]) {
    if (tokenFile === "") {
      read.errors.push("aadFederatedTokenFile is missing: workload identity needs it (or AZURE_FEDERATED_TOKEN_FILE)");
    }
    needClient(read, clientId, "workload identity");
    return { kind: "workloadIdentity", tenantId, clientId, tokenFile };
  }
  const secret = environment["AZURE_CLIENT_SECRET"] || read.text("aadClientSecret");
  const mayHaveIdentity = hasIdentityEndpoint(environment) || isAzureMachine(read) || secret === "";
  if (read.flag("useManagedIdentityExtension", false) && mayHaveIdentity) {
    return managedIdentity(read.text("userAssignedIdentityID"));
  }
  if (secret !== "") {
    needClient(read, clientId, "aadClientSecret");
    return { kind: "secret", tenantId, clientId, secret };
  }
  const path = read.text("aadClientCertPath");
  if (path === "") return { kind: "none" };
  needClient(read, clientId, "aadClientCertPath");
  return { kind: "certificate", tenantId, clientId, path, password: read.text("aadClientCertPassword") || undefined };
}

/** Whether the environment, instead of Azure's metadata service, provides the machine's identity. */
function hasIdentityEndpoint(environment: Environment): boolean {
  return (environment["IDENTITY_ENDPOINT"] ?? environment["MSI_ENDPOINT"] ?? "") !== "";
}

/** A custom endpoint has no metadata service, so a configured secret takes precedence there. */
function isAzureMachine(read: ConfigReader): boolean {
  return read.text("resourceManagerEndpoint") === "";
}

function needClient(read: ConfigReader, clientId: string, reason: string): void {
  if (clientId === "") read.errors.push(`aadClientId is missing: ${reason} needs it (or AZURE_CLIENT_ID)`);
}

function managedIdentity(id: string): Credential {
  if (id === "") return { kind: "managedIdentity", userAssigned: undefined };
  const by = id.toLowerCase().includes("/subscriptions/") ? "resourceId" : "clientId";
  return { kind: "managedIdentity", userAssigned: { by, id } };
}

/** With a custom endpoint a cloud may have any name, which the endpoint's metadata resolves. */
function parseCloud(read: ConfigReader): CloudName {
  const name = read.text("cloud");
  const cloud = CLOUDS.get(name.toLowerCase());
  if (cloud === undefined && read.text("resourceManagerEndpoint") === "") {
    const allowed = "AzurePublicCloud, AzureChinaCloud, AzureUSGovernmentCloud, AzureStackCloud";
    read.errors.push(`cloud is ${JSON.stringify(name)}, allowed: ${allowed}, or any name with resourceManagerEndpoint`);
  }
  return cloud ?? "AzurePublicCloud";
}

export function isAzureStack(read: ConfigReader): boolean {
  return sameText(read.text("cloud"), "AzureStackCloud") && !read.flag("disableAzureStackCloud", false);
}

function sameText(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
