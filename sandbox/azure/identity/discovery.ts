/**
 * The discovery documents of the emulated cloud: OpenID configuration (v2.0, v1 and ADFS) and `/metadata/endpoints`. The
 * issuer has the authority's scheme and host, as Go's client requires, and all URLs of the authority are https, even if
 * the document was requested over http.
 */
import type { HttpReply, HttpRequest } from "../server/http-message.ts";
import { jsonReply } from "../server/http-message.ts";
import type { Account } from "./account.ts";

const OPENID = /^\/([^/]+)\/(?:v2\.0\/)?\.well-known\/openid-configuration$/i;
/**
 * What the document is, by api-version:
 *
 *   before 2019-05-01 | one object with the endpoints alone
 *   before 2022-09-01 | a list of clouds, as Azure Stack's profile and Go's clients read it
 *   from then on      | one object, as `az` and Terraform read it
 */
const LIST_SINCE = "2019-05-01";
const OBJECT_SINCE = "2022-09-01";

/** Of the emulator; known once its listeners are open. */
export interface EmulatorUrls {
  readonly authority: string;
  /** A list of clouds names it, so that a client that knows the emulator finds what Azure does not tell. */
  readonly control: string;
}

export function answerDiscovery(request: HttpRequest, account: Account, urls: EmulatorUrls): HttpReply | undefined {
  const tenant = OPENID.exec(request.path)?.[1];
  const isMetadata = request.path.toLowerCase().replace(/\/$/, "") === "/metadata/endpoints";
  if (tenant === undefined && !isMetadata) return undefined;
  if (request.method !== "GET") return jsonReply(405, { error: "invalid_request", error_description: "Use GET." });
  if (tenant !== undefined) return openIdConfiguration(tenant, account, urls.authority);
  return metadataEndpoints(request, account, urls);
}

function openIdConfiguration(tenant: string, account: Account, authorityUrl: string): HttpReply {
  const isAdfs = tenant.toLowerCase() === "adfs";
  if (!isAdfs && !["common", "organizations", account.tenantId].includes(tenant.toLowerCase())) {
    return jsonReply(400, {
      error: "invalid_tenant",
      error_description: `AADSTS90002: Tenant '${tenant}' not found. Check the tenant ID.`,
    });
  }
  const base = `${authorityUrl}/${tenant}`;
  const oauth = isAdfs ? `${base}/oauth2` : `${base}/oauth2/v2.0`;
  return jsonReply(200, {
    issuer: isAdfs ? base : `${authorityUrl}/${account.tenantId}/v2.0`,
    authorization_endpoint: `${oauth}/authorize`,
    token_endpoint: `${oauth}/token`,
    device_authorization_endpoint: `${oauth}/devicecode`,
    jwks_uri: isAdfs ? `${base}/discovery/keys` : `${base}/discovery/v2.0/keys`,
    token_endpoint_auth_methods_supported: ["client_secret_post", "private_key_jwt", "client_secret_basic"],
    response_types_supported: ["code", "id_token", "token"],
    subject_types_supported: ["pairwise"],
    id_token_signing_alg_values_supported: ["RS256"],
  });
}

function metadataEndpoints(request: HttpRequest, account: Account, { authority, control }: EmulatorUrls): HttpReply {
  const authentication = {
    loginEndpoint: authority,
    audiences: [request.baseUrl, "https://management.core.windows.net/", "https://management.azure.com/"],
    tenant: account.tenantId,
    identityProvider: "AAD",
  };
  const version = request.query["api-version"] ?? LIST_SINCE;
  if (version < LIST_SINCE) {
    return jsonReply(200, {
      galleryEndpoint: "",
      graphEndpoint: "",
      portalEndpoint: "",
      authentication: { loginEndpoint: authentication.loginEndpoint, audiences: authentication.audiences },
    });
  }
  const cloud = {
    name: "AzureCloud",
    resourceManager: request.baseUrl,
    authentication,
    suffixes: { storage: "core.windows.net", acrLoginServer: "azurecr.io", keyVaultDns: "vault.azure.net" },
  };
  return jsonReply(
    200,
    version < OBJECT_SINCE ? [{ ...cloud, emulator: { control } }] : wholeCloud(cloud, request.baseUrl),
  );
}

/**
 * Clients of this form take any tenant but `common` for Azure Stack. Endpoints that the emulator does not have point to
 * itself: nothing leaves the machine.
 */
function wholeCloud(cloud: { authentication: object; suffixes: object }, baseUrl: string): object {
  return {
    ...cloud,
    portal: baseUrl,
    authentication: { ...cloud.authentication, tenant: "common" },
    graph: baseUrl,
    graphAudience: baseUrl,
    microsoftGraphResourceId: baseUrl,
    media: baseUrl,
    batch: baseUrl,
    gallery: baseUrl,
    sqlManagement: baseUrl,
    vmImageAliasDoc: baseUrl,
    activeDirectoryDataLake: baseUrl,
    logAnalyticsResourceId: baseUrl,
    appInsightsResourceId: baseUrl,
    suffixes: {
      ...cloud.suffixes,
      sqlServerHostname: "database.windows.net",
      mysqlServerEndpoint: "mysql.database.azure.com",
      postgresqlServerEndpoint: "postgres.database.azure.com",
      mariadbServerEndpoint: "mariadb.database.azure.com",
      azureDataLakeStoreFileSystem: "azuredatalakestore.net",
      azureDataLakeAnalyticsCatalogAndJob: "azuredatalakeanalytics.net",
    },
  };
}
