/**
 * A command's way to the controller's read-only API: through the API server's proxy of the Service that the chart makes, or
 * at an address that the user gives. A token for the audience `azlb` comes from the environment, or is asked for: for the
 * ServiceAccount that the command runs as, or one that the user names.
 */
import type { KubeClient } from "../kube/client/kube-client.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import type { KubeObject, Resource } from "../kube/client/resources.ts";
import { errorText } from "../core/util/text.ts";

export interface ApiAccess {
  /** In words, for the user. */
  readonly where: string;
  /** Fails as `NoApi` where it cannot be asked, as `ApiRefusal` where it says no. */
  get<View>(path: string): Promise<View>;
}

/** It cannot be asked: the command looks itself. */
export class NoApi extends Error {
  override readonly name = "NoApi";
}

/** It was asked, and this is its answer. */
export class ApiRefusal extends Error {
  override readonly name = "ApiRefusal";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface ApiChoice {
  /** Of the user; `undefined`: through the API server's proxy. */
  readonly url?: string | undefined;
  /** `namespace/name`: whose token is asked for. */
  readonly serviceAccount?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const TOKEN_VARIABLE = "AZLB_API_TOKEN";
const AUDIENCE = "azlb";
const PROXY = "/api/v1/namespaces/kube-system/services/https:azlb-api:api/proxy";
const WITHIN_MS = 10_000;
const SELF_REVIEWS: Resource = {
  group: "authentication.k8s.io",
  version: "v1",
  plural: "selfsubjectreviews",
  kind: "SelfSubjectReview",
  namespaced: false,
};

export function openApi(client: KubeClient, choice: ApiChoice): ApiAccess {
  const { url } = choice;
  let token: Promise<string> | undefined;
  const headers = async (): Promise<Record<string, string>> => ({
    "x-azlb-token": await (token ??= tokenOf(client, choice)),
  });
  const where = url ?? "kube-system/azlb-api, through the API server";
  return {
    where,
    async get<View>(path: string) {
      const answer =
        url === undefined
          ? await throughProxy(client, path, headers)
          : await directly(url, path, isOpen(url) ? {} : await headers());
      return viewOf(answer) as View;
    },
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** A sandbox asks for no token. */
function isOpen(url: string): boolean {
  return new URL(url).protocol === "http:";
}

async function throughProxy(
  client: KubeClient,
  path: string,
  headers: () => Promise<Record<string, string>>,
): Promise<Answer> {
  try {
    const whether = await client.proxied({ method: "GET", path: `${PROXY}/openapi.json` });
    refuseOfServer(whether);
    return refuseOfServer(await client.proxied({ method: "GET", path: `${PROXY}${path}`, headers: await headers() }));
  } catch (error) {
    if (error instanceof NoApi) throw error;
    throw new NoApi(errorText(error));
  }
}

async function directly(url: string, path: string, headers: Record<string, string>): Promise<Answer> {
  try {
    const response = await fetch(new URL(path, url), { headers, signal: AbortSignal.timeout(WITHIN_MS) });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    throw new NoApi(`${url} does not answer: ${errorText(error)}`);
  }
}

/** What the API server says itself is no answer of the API. */
function refuseOfServer(answer: Answer): Answer {
  const status = parsed(answer.text) as { kind?: unknown; message?: string } | undefined;
  if (status?.kind !== "Status") return answer;
  if (answer.status === 404) throw new NoApi("there is no Service kube-system/azlb-api (api.enabled of the chart)");
  if (answer.status === 403) throw new NoApi("no right to its proxy: the Role azlb-api-reader in kube-system gives it");
  throw new NoApi(status.message ?? `the API server's proxy answers ${answer.status}`);
}

function viewOf({ status, text }: Answer): unknown {
  const body = parsed(text);
  if (status === 200 && body !== undefined) return body;
  const { error = `it answers ${status}` } = (body ?? {}) as { error?: string };
  if (status >= 500 || status === 401 || status === 429 || body === undefined) throw new NoApi(error);
  throw new ApiRefusal(status, error);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function tokenOf(client: KubeClient, { serviceAccount, env }: ApiChoice): Promise<string> {
  const given = env[TOKEN_VARIABLE];
  if (given) return given;
  const account = serviceAccount ?? (await ownAccount(client));
  if (account === undefined) {
    const how = `name a ServiceAccount (--api-service-account NAMESPACE/NAME), or set ${TOKEN_VARIABLE}`;
    throw new NoApi(`there is no token for the audience ${AUDIENCE}: ${how}`);
  }
  const [namespace = "", name = ""] = account.split("/");
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences: [AUDIENCE] } };
  const { status, text } = await client.proxied({ method: "POST", path, body });
  const token = (parsed(text) as { status?: { token?: string } } | undefined)?.status?.token;
  if (token !== undefined && status === 201) return token;
  const { message = String(status) } = (parsed(text) ?? {}) as { message?: string };
  throw new NoApi(`no token of ServiceAccount ${account} for the audience ${AUDIENCE}: ${message}`);
}

/** `undefined`: the command does not run as a ServiceAccount, or may not know. */
async function ownAccount(client: KubeClient): Promise<string | undefined> {
  type Review = KubeObject & { status?: { userInfo?: { username?: string } } };
  try {
    const { status } = await client.create<Review>(SELF_REVIEWS, { metadata: {} });
    const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(status?.userInfo?.username ?? "") ?? [];
    return namespace === undefined ? undefined : `${namespace}/${name}`;
  } catch (error) {
    if (isFailure(error)) return undefined;
    throw error;
  }
}
