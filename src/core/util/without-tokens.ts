/**
 * A server's words, fit for logs and events: whatever signs somebody in is left out, should the server (or a proxy before
 * it) repeat what it was sent. JSON Web Tokens are known by their first characters, others by the word before them.
 */
const TOKENS = /\beyJ[\w-]{6,}\.[\w-]+(?:\.[\w-]*)?|\b(Bearer|Basic) +[\w.~+/=-]{8,}/gi;

export function withoutTokens(text: string): string {
  return text.replaceAll(TOKENS, (_token, scheme: string | undefined) =>
    scheme === undefined ? "(hidden)" : `${scheme} (hidden)`,
  );
}
