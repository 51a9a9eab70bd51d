/** Routes requests that need no token: discovery, sign-in with a secret, managed identity. */
import type { HttpReply, HttpRequest } from "../server/http-message.ts";
import type { Account } from "./account.ts";
import { answerDiscovery, type EmulatorUrls } from "./discovery.ts";
import { answerManagedIdentity } from "./managed-identity.ts";
import { answerTokenRequest } from "./token-endpoint.ts";
import type { TokenAuthority } from "./tokens.ts";

export function signInAnswer(
  account: Account,
  tokens: TokenAuthority,
  urls: EmulatorUrls,
): (request: HttpRequest) => HttpReply | undefined {
  return (request) =>
    answerDiscovery(request, account, urls) ??
    answerTokenRequest(request, account, tokens) ??
    answerManagedIdentity(request, account, tokens);
}
