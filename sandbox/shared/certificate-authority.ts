/**
 * A private certificate authority in a directory: created at first use, loaded afterwards, so that clients which trust
 * it keep trusting it after a restart. It signs certificates for servers on loopback and for client users, with P-256
 * keys. Directory and files are readable by their owner only. The caller decides which clients trust it and where
 * certificates are installed.
 *
 *   file in the directory | content
 *   ----------------------|------------------------------------------
 *   ca.key                | private key
 *   ca.crt                | certificate: `caFile`, what clients trust
 */
import type { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import "reflect-metadata"; // required by x509's dependency injection
import * as x509 from "@peculiar/x509";

import { makePrivateFolder, restrictFile, writePrivate } from "./private-files.ts";

type KeyPair = webcrypto.CryptoKeyPair;

const SIGNING = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY_MS = 86_400_000;
const CA_DAYS = 3650;
const LEAF_DAYS = 825;

export interface IssuedCertificate {
  readonly certPem: string;
  readonly keyPem: string;
}

interface ClientIdentity {
  /** Becomes the common name: the user, for Kubernetes. */
  readonly user: string;
  /** Become organizations: the groups, for Kubernetes. */
  readonly groups?: readonly string[];
}

export interface CertificateAuthority {
  /** Path of the certificate that clients trust. */
  readonly caFile: string;
  readonly caPem: string;
  /** A server certificate for loopback, plus any further host names or addresses. */
  issueServer(moreNames?: readonly string[]): Promise<IssuedCertificate>;
  issueClient(identity: ClientIdentity): Promise<IssuedCertificate>;
}

interface Signer {
  readonly certificate: x509.X509Certificate;
  readonly keys: KeyPair;
}

/** Opens the authority in `directory`; creates both if missing. */
export async function openCertificateAuthority(
  directory: string,
  now: () => Date = () => new Date(),
): Promise<CertificateAuthority> {
  makePrivateFolder(directory);
  const caFile = join(directory, "ca.crt");
  const keyFile = join(directory, "ca.key");
  const signer = (await loadSigner(caFile, keyFile)) ?? (await makeSigner(caFile, keyFile, now()));
  return {
    caFile,
    caPem: signer.certificate.toString("pem"),
    issueServer: (moreNames = []) => issueServer(signer, moreNames, now()),
    issueClient: (identity) => issueClient(signer, identity, now()),
  };
}

async function loadSigner(caFile: string, keyFile: string): Promise<Signer | undefined> {
  restrictFile(keyFile);
  const certPem = readIfThere(caFile);
  const keyPem = readIfThere(keyFile);
  if (certPem === undefined || keyPem === undefined) return undefined;
  const certificate = new x509.X509Certificate(certPem);
  const pkcs8 = x509.PemConverter.decodeFirst(keyPem);
  const privateKey = await crypto.subtle.importKey("pkcs8", pkcs8, SIGNING, true, ["sign"]);
  const publicKey = await certificate.publicKey.export(SIGNING, ["verify"]);
  return { certificate, keys: { privateKey, publicKey } };
}

async function makeSigner(caFile: string, keyFile: string, now: Date): Promise<Signer> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: "CN=azlb sandbox CA",
    ...validity(now, CA_DAYS),
    keys,
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  // The key is written first, so that a certificate on disk always has its key, even after a kill in between.
  writePrivate(keyFile, await keyPemOf(keys.privateKey));
  writePrivate(caFile, `${certificate.toString("pem")}\n`);
  return { certificate, keys };
}

async function issueServer(signer: Signer, moreNames: readonly string[], now: Date): Promise<IssuedCertificate> {
  const names = [...new Set(["localhost", "127.0.0.1", "::1", ...moreNames])];
  return issue(signer, "CN=localhost", now, [
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    new x509.SubjectAlternativeNameExtension(
      names.map((name) => ({ type: isAddress(name) ? "ip" : "dns", value: name })),
    ),
  ]);
}

async function issueClient(signer: Signer, identity: ClientIdentity, now: Date): Promise<IssuedCertificate> {
  const subject = new x509.Name([
    ...(identity.groups ?? []).map((group) => ({ O: [group] })),
    { CN: [identity.user] },
  ]).toString();
  return issue(signer, subject, now, [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])]);
}

async function issue(
  signer: Signer,
  subject: string,
  now: Date,
  extensions: readonly x509.Extension[],
): Promise<IssuedCertificate> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject,
    issuer: signer.certificate.subject,
    ...validity(now, LEAF_DAYS),
    publicKey: keys.publicKey,
    signingKey: signer.keys.privateKey,
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      await x509.AuthorityKeyIdentifierExtension.create(signer.keys.publicKey),
      ...extensions,
    ],
  });
  return { certPem: certificate.toString("pem"), keyPem: await keyPemOf(keys.privateKey) };
}

/** Valid from yesterday, for clients whose clock is slow. */
function validity(now: Date, days: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now.getTime() - DAY_MS), notAfter: new Date(now.getTime() + days * DAY_MS) };
}

function newKeys(): Promise<KeyPair> {
  return crypto.subtle.generateKey(SIGNING, true, ["sign", "verify"]);
}

/** Sixteen random bytes, positive as X.509 requires. */
function newSerial(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return Buffer.from(bytes).toString("hex");
}

async function keyPemOf(key: webcrypto.CryptoKey): Promise<string> {
  return `${x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY")}\n`;
}

function isAddress(name: string): boolean {
  return name.includes(":") || /^\d+(\.\d+){3}$/.test(name);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
