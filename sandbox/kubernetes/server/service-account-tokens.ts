/**
 * Signs and reads tokens of service accounts: JSON web tokens with a P-256 key, which a data directory keeps, so that a
 * token is still known after a restart.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";

import type { DataDirectory } from "../../shared/data-directory.ts";
import type { JsonObject, TokenAuthority } from "../model/contract.ts";

const ISSUER = "https://kubernetes.default.svc.cluster.local";
const HEADER = encoded({ alg: "ES256", typ: "JWT" });

export function openTokenAuthority(directory: DataDirectory): TokenAuthority {
  const key = storedKey(directory);
  const publicKey = createPublicKey(key);
  return {
    issuer: ISSUER,
    sign: (claims) => {
      const text = `${HEADER}.${encoded(claims)}`;
      const signature = sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" });
      return `${text}.${signature.toString("base64url")}`;
    },
    read: (token) => readClaims(publicKey, token),
  };
}

function readClaims(key: KeyObject, token: string): JsonObject | undefined {
  const [header, claims, signature, more] = token.split(".");
  if (header !== HEADER || claims === undefined || signature === undefined || more !== undefined) return undefined;
  const bytes = Buffer.from(signature, "base64url");
  if (!verify("sha256", Buffer.from(`${header}.${claims}`), { key, dsaEncoding: "ieee-p1363" }, bytes))
    return undefined;
  return JSON.parse(Buffer.from(claims, "base64url").toString()) as JsonObject;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function storedKey(directory: DataDirectory): KeyObject {
  const known = directory.read("kube-service-account-key.json");
  if (typeof known === "string") return createPrivateKey(known);
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  directory.write("kube-service-account-key.json", privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  return privateKey;
}
