/**
 * Signing in: asks Entra ID, or the machine, for a token in the way that the cloud config chose, through the same
 * transport as everything else. `@azure/identity` does the exchange and is loaded only then. Keeping tokens is
 * `token-source.ts`'s business.
 */
import { readFile } from "node:fs/promises";

import type { HttpClient, PipelineRequest, PipelineResponse } from "@azure/core-rest-pipeline";
import type { TokenCredential } from "@azure/identity";

import type { Credential } from "../../core/config/credential-config.ts";
import { isKnownAuthority, type Cloud } from "./clouds.ts";
import { field, isObject, jsonOf, partsOf, textField } from "./response-body.ts";
import { ArmError, plainFailure, transient } from "./failures.ts";
import type { Issued, TokenIssuer } from "./token-source.ts";
import { NoAnswerError, type ArmRequest, type ArmResponse, type ArmTransport } from "./transport.ts";
import { errorText } from "../../core/util/text.ts";

/** A credential that cannot be used as configured: the message names the key and the fix. */
class CredentialError extends Error {
  override readonly name = "CredentialError";
}

/** The same application in another tenant. */
export function inTenant(credential: Credential, tenantId: string): Credential {
  return credential.kind === "secret" || credential.kind === "certificate" ? { ...credential, tenantId } : credential;
}

/** What makes tokens for this cloud. Failures come as `ArmError`, free of secrets. */
export function signIn(credential: Credential, cloud: Cloud, transport: ArmTransport): TokenIssuer {
  const scope = `${cloud.audience}/.default`;
  return async (signal) => {
    const wire = wireFor(credential, transport);
    try {
      const made = await credentialOf(credential, cloud, wire);
      const token = await made.getToken(scope, signal === undefined ? {} : { abortSignal: signal });
      if (token === null) throw new Error("no token came");
      return issuedOf(token);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw signInError(error, credential, cloud, wire);
    }
  };
}

function issuedOf(token: { token: string; expiresOnTimestamp: number; refreshAfterTimestamp?: number }): Issued {
  const { expiresOnTimestamp: expiresAtMs, refreshAfterTimestamp } = token;
  return { token: token.token, expiresAtMs, refreshAfterMs: refreshAfterTimestamp };
}

async function credentialOf(credential: Credential, cloud: Cloud, wire: IdentityWire): Promise<TokenCredential> {
  const identity = await import("./identity.ts");
  const authorityHost = cloud.authority;
  const options = { authorityHost, disableInstanceDiscovery: !isKnownAuthority(authorityHost), httpClient: wire };
  switch (credential.kind) {
    case "workloadIdentity": {
      const { tenantId, clientId, tokenFile } = credential;
      const assertion = (): Promise<string> => readFile(tokenFile, "utf8").then((text) => text.trim());
      return new identity.ClientAssertionCredential(tenantId, clientId, assertion, options);
    }
    case "managedIdentity":
      return new identity.ManagedIdentityCredential({ ...identityOf(credential.userAssigned), httpClient: wire });
    case "secret":
      return new identity.ClientSecretCredential(credential.tenantId, credential.clientId, credential.secret, options);
    case "none":
      throw new CredentialError(
        "no credentials: set aadClientId with aadClientSecret or aadClientCertPath, useManagedIdentityExtension, or useFederatedWorkloadIdentityExtension with aadFederatedTokenFile",
      );
    case "certificate": {
      const { tenantId, clientId, password } = credential;
      const certificate = await readCertificate(credential.path);
      const key = { certificate, ...(password === undefined ? {} : { certificatePassword: password }) };
      return new identity.ClientCertificateCredential(tenantId, clientId, key, {
        ...options,
        sendCertificateChain: true,
      });
    }
  }
}

function identityOf(assigned: { by: "resourceId" | "clientId"; id: string } | undefined): object {
  return assigned === undefined ? {} : { [assigned.by]: assigned.id };
}

async function readCertificate(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new CredentialError(`aadClientCertPath: ${file} cannot be read`, { cause: error });
  });
  if (text.includes("-----BEGIN ")) return text;
  throw new CredentialError(
    `aadClientCertPath: ${file} is not PEM; convert it: openssl pkcs12 -in ${file} -out client.pem -nodes`,
  );
}

/** Where the library learns how to ask for tokens. */
const DISCOVERY = "/.well-known/";

/** Carries `@azure/identity`'s requests over the controller's transport, and remembers how the last one ended. */
class IdentityWire implements HttpClient {
  transport: ArmTransport | undefined;
  lastStatus: number | undefined;
  /** To a request for a token: what is found out before tells nothing about a refusal. */
  lastAnswer: Pick<ArmResponse, "status" | "body"> | undefined;
  unanswered: NoAnswerError | undefined;

  async sendRequest(request: PipelineRequest): Promise<PipelineResponse> {
    const { createHttpHeaders } = await import("@azure/core-rest-pipeline");
    // our transport does not unpack what it did not ask to be packed
    request.headers.delete("accept-encoding");
    try {
      const answer = await this.#send({
        method: request.method as ArmRequest["method"],
        url: request.url,
        headers: request.headers.toJSON(),
        body: typeof request.body === "string" ? request.body : undefined,
      });
      const { status, headers, body } = answer;
      this.lastStatus = status;
      if (!request.url.includes(DISCOVERY)) this.lastAnswer = { status, body };
      return { request, status, headers: headersOf(headers, createHttpHeaders), bodyAsText: body };
    } catch (error) {
      if (error instanceof NoAnswerError) this.unanswered = error;
      throw error;
    }
  }

  #send(request: ArmRequest): Promise<ArmResponse> {
    if (this.transport === undefined) throw new NoAnswerError("there is no transport to sign in over", false);
    return this.transport.send(request);
  }
}

/** The library keeps the first wire that a managed identity came over for as long as the process lives. */
const MACHINE_WIRE = new IdentityWire();

function wireFor(credential: Credential, transport: ArmTransport): IdentityWire {
  const wire = credential.kind === "managedIdentity" ? MACHINE_WIRE : new IdentityWire();
  return Object.assign(wire, { transport, lastStatus: undefined, lastAnswer: undefined, unanswered: undefined });
}

function headersOf<Headers>(
  headers: Readonly<Record<string, string | undefined>>,
  create: (raw: Record<string, string>) => Headers,
): Headers {
  return create(Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value ?? ""])));
}

/** No answer, or an unusable one: a retry may work. Anything else must be mended in the config or the tenant. */
function signInError(error: unknown, credential: Credential, cloud: Cloud, wire: IdentityWire): ArmError {
  const doing = `signing in by ${WAYS[credential.kind]}`;
  if (wire.unanswered !== undefined) return new ArmError(transient(wire.unanswered.message, false), doing);
  const answered = wire.lastAnswer && wordsOf(wire.lastAnswer);
  const said = withoutSecrets(answered ?? errorText(error), credential);
  const where = "clientId" in credential ? ` (${cloud.authority}, client ${credential.clientId})` : "";
  if ((wire.lastStatus ?? 0) >= 500) return new ArmError(transient(`${said}${where}`, false), doing);
  return new ArmError(plainFailure("unauthenticated", `${said}${where}`), doing);
}

/**
 * A refusal in the issuer's own words. The identity library reads only the shape that OAuth prescribes, and makes no
 * sense of any other; gateways and proxies on the way have shapes of their own.
 */
function wordsOf(said: Pick<ArmResponse, "status" | "body">): string {
  const { status, body } = said;
  if (status < 400) return `the answer (HTTP ${status}) holds no token`;
  const answer = jsonOf(said);
  const error = field(answer, "error");
  const words =
    typeof error === "string"
      ? [error, textField(answer, "error_description")]
      : partsOf(isObject(error) ? error : answer).flatMap(({ code, message }) => [code, message]);
  const text = words.filter((word) => word !== undefined && word !== "").join(": ");
  return text === "" ? `HTTP ${status}: ${body || "an empty answer"}` : text;
}

const WAYS: Readonly<Record<Credential["kind"], string>> = {
  workloadIdentity: "workload identity",
  managedIdentity: "managed identity",
  secret: "client secret",
  certificate: "client certificate",
  none: "nothing",
};

/** Enough to tell whose page it is. */
const LONGEST_LINE = 500;

/** The first line, with whatever is secret in it blotted out. */
function withoutSecrets(message: string, credential: Credential): string {
  const secrets = [
    credential.kind === "secret" ? credential.secret : undefined,
    credential.kind === "certificate" ? credential.password : undefined,
  ].filter((secret) => secret !== undefined && secret !== "");
  const line = (message.split("\n")[0] ?? "").trim();
  return secrets
    .reduce<string>((text, secret) => text.replaceAll(secret ?? "", "***"), line)
    .replace(/eyJ[\w-]+\.[\w-]+(\.[\w-]*)?/g, "***")
    .slice(0, LONGEST_LINE);
}
