/**
 * Decodes protobuf bodies to JSON. kubectl (`create namespace|configmap|secret|service`) and Go controllers send them and
 * do not fall back to JSON. The envelope is `k8s\0` and a message {1: {1 apiVersion, 2 kind}, 2: the object}.
 */
import { KINDS } from "./kinds.ts";
import { readMessage, sentText } from "./message.ts";
import { DELETE_OPTIONS } from "./metadata.ts";
import { readFields } from "./wire.ts";

export const PROTOBUF = "application/vnd.kubernetes.protobuf";

const MAGIC = Buffer.from("k8s\0");

export function decodeProtobuf(bytes: Buffer): unknown {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error("not a Kubernetes protobuf body");
  const envelope = readFields(bytes.subarray(MAGIC.length));
  const { apiVersion = "", kind = "" } = typeOf(messageIn(envelope, 1));
  const message = kind === "DeleteOptions" ? DELETE_OPTIONS : KINDS[`${apiVersion}/${kind}`];
  if (message === undefined) throw new Error(`${apiVersion} ${kind} is taken as JSON only`);
  return { apiVersion, kind, ...readMessage(message, messageIn(envelope, 2)) };
}

function typeOf(bytes: Buffer): { readonly apiVersion?: string; readonly kind?: string } {
  return readMessage({ 1: ["apiVersion", sentText], 2: ["kind", sentText] }, bytes);
}

function messageIn(fields: ReturnType<typeof readFields>, number: number): Buffer {
  const value = fields.get(number)?.at(-1);
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}
