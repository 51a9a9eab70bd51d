/**
 * A certificate for the API where the operator gave none: self-signed, made at the start, with a key that never leaves the
 * process. The API server's proxy does not ask for more; a client that should know whom it speaks to needs an operator's own.
 * Node has no function that makes a certificate, so its few fields are encoded here (RFC 5280, DER).
 */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

const VALID_MS = 825 * 86_400_000;
const OID = {
  ecdsaWithSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
  commonName: [0x55, 0x04, 0x03],
  subjectAltName: [0x55, 0x1d, 0x11],
  extendedKeyUsage: [0x55, 0x1d, 0x25],
  serverAuth: [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01],
} as const;

export function selfSigned(host: string, nowMs: number): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const name = sequence(tag(0x31, sequence(oid(OID.commonName), text("azlb"))));
  const names = ["localhost", "127.0.0.1", "::1", host].filter((each, at, all) => all.indexOf(each) === at);
  const extensions = sequence(
    sequence(oid(OID.subjectAltName), octets(sequence(...names.map(altName)))),
    sequence(oid(OID.extendedKeyUsage), octets(sequence(oid(OID.serverAuth)))),
  );
  const serial = randomBytes(16);
  serial[0] = (serial[0]! & 0x7f) | 0x40; // positive, and of full length
  const certificate = sequence(
    tag(0xa0, integer([2])), // version 3
    integer(serial),
    algorithm,
    name,
    sequence(time(nowMs - 3_600_000), time(nowMs + VALID_MS)),
    name,
    publicKey.export({ format: "der", type: "spki" }),
    tag(0xa3, extensions),
  );
  const signature = sign("sha256", certificate, privateKey);
  const whole = sequence(certificate, algorithm, tag(0x03, Buffer.from([0]), signature));
  const lines = whole
    .toString("base64")
    .replaceAll(/(.{64})/g, "$1\n")
    .trimEnd();
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: String(privateKey.export({ format: "pem", type: "pkcs8" })),
  };
}

function tag(kind: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([kind, ...size]), content]);
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tag(0x30, ...parts);
}

function oid(bytes: readonly number[]): Buffer {
  return tag(0x06, Buffer.from(bytes));
}

function integer(bytes: Iterable<number>): Buffer {
  return tag(0x02, Buffer.from([...bytes]));
}

function octets(content: Uint8Array): Buffer {
  return tag(0x04, content);
}

function text(value: string): Buffer {
  return tag(0x0c, Buffer.from(value));
}

/** GeneralizedTime: RFC 5280 asks for it from 2050 on, and verifiers take it before. */
function time(ms: number): Buffer {
  const [date = ""] = new Date(ms).toISOString().split(".");
  return tag(0x18, Buffer.from(`${date.replaceAll(/[-:T]/g, "")}Z`));
}

function altName(name: string): Buffer {
  const family = isIP(name);
  if (family === 0) return tag(0x82, Buffer.from(name));
  return tag(0x87, family === 4 ? Buffer.from(name.split(".").map(Number)) : ipv6Bytes(name));
}

function ipv6Bytes(address: string): Buffer {
  const [head = "", tail] = address.split("::");
  const words = (half: string): number[] =>
    half === "" ? [] : half.split(":").map((word) => Number.parseInt(word, 16));
  const [first, last] = [words(head), words(tail ?? "")];
  const gap = tail === undefined ? [] : Array.from({ length: 8 - first.length - last.length }, () => 0);
  return Buffer.from([...first, ...gap, ...last].flatMap((word) => [word >> 8, word & 0xff]));
}
