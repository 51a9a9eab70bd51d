/**
 * What kube-controller-manager makes of service accounts: a namespace has one called `default`, and a Secret of type
 * `kubernetes.io/service-account-token` gets the token of the account that its annotation names.
 */
import type { HistoryEntry, KubeObject } from "../contract.ts";
import { asObject } from "../json.ts";
import { keyOf } from "../state.ts";
import type { DelayQueue } from "./delay-queue.ts";
import type { LoopClient } from "./loop-client.ts";

const ACCOUNTS = "serviceaccounts";
const DEFAULT = "default";
const TOKEN_TYPE = "kubernetes.io/service-account-token";
const NAME = "kubernetes.io/service-account.name";
const UID = "kubernetes.io/service-account.uid";
/** Tokens of Secrets do not end; a time that no cluster sees stands for that. */
const NEVER = Date.parse("9999-01-01T00:00:00Z") / 1000;

export function keepServiceAccounts(client: LoopClient, queue: DelayQueue, { collection, object }: HistoryEntry): void {
  const { name = "", namespace = "" } = object.metadata;
  if (collection === "namespaces") queue.schedule(`account/${name}`, 0, () => ensureDefault(client, name));
  if (collection === ACCOUNTS && name === DEFAULT) {
    queue.schedule(`account/${namespace}`, 0, () => ensureDefault(client, namespace));
  }
  if (collection === ACCOUNTS) {
    for (const secret of client.all("secrets"))
      if (secret.metadata.namespace === namespace) schedule(client, queue, secret);
  }
  if (collection === "secrets") schedule(client, queue, object);
}

function schedule(client: LoopClient, queue: DelayQueue, secret: KubeObject): void {
  if (secret["type"] !== TOKEN_TYPE) return;
  const key = keyOf(secret);
  queue.schedule(`token/${key}`, 0, () => fillToken(client, key));
}

function ensureDefault(client: LoopClient, namespace: string): void {
  const home = client.get("namespaces", namespace);
  if (home === undefined || home.metadata.deletionTimestamp !== undefined) return;
  if (client.get(ACCOUNTS, `${namespace}/${DEFAULT}`) !== undefined) return;
  client.create(ACCOUNTS, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: DEFAULT, namespace } });
}

/** A Secret whose account is gone goes with it. */
function fillToken(client: LoopClient, key: string): void {
  const secret = client.get("secrets", key);
  const { tokens } = client;
  if (secret === undefined || tokens === undefined) return;
  const { namespace = "", name = "", annotations = {} } = secret.metadata;
  const account = client.get(ACCOUNTS, `${namespace}/${annotations[NAME] ?? ""}`);
  const bound = annotations[UID];
  if (account === undefined || (bound !== undefined && bound !== account.metadata.uid))
    return client.remove("secrets", key);
  const data = asObject(secret["data"]);
  if (data["token"] !== undefined) return;
  const token = tokens.sign({
    iss: tokens.issuer,
    aud: [tokens.issuer],
    exp: NEVER,
    "kubernetes.io": {
      namespace,
      secret: { name, uid: secret.metadata.uid },
      serviceaccount: { name: account.metadata.name, uid: account.metadata.uid },
    },
    sub: `system:serviceaccount:${namespace}:${account.metadata.name ?? ""}`,
  });
  const encoded = (text: string): string => Buffer.from(text).toString("base64");
  client.put("secrets", {
    ...secret,
    metadata: { ...secret.metadata, annotations: { ...annotations, [UID]: account.metadata.uid ?? "" } },
    data: { ...data, namespace: encoded(namespace), token: encoded(token) },
  });
}
