/** The part of an `azure.json` that says how to reach Azure and as whom, with the environment's overrides. */
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

/** Workload identity, managed identity, secret, certificate: the first that is given. */
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

/** Where the machine's identity is offered by the environment rather than by Azure's metadata service. */
function hasIdentityEndpoint(environment: Environment): boolean {
  return (environment["IDENTITY_ENDPOINT"] ?? environment["MSI_ENDPOINT"] ?? "") !== "";
}

/** With an Azure of its own address there is no metadata service to ask: a secret beside it is what is meant. */
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

/** With an endpoint of its own a cloud may have any name: the endpoint's metadata knows it. */
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
