/**
 * Decodes protobuf bodies to JSON. kubectl (`create role`, `create token`, `auth can-i` and others) and Go controllers send
 * them and do not fall back to JSON. The envelope is `k8s\0` and a message {1: {1 apiVersion, 2 kind}, 2: the object}. Which
 * field has which number stands in messages.json, which build/kubernetes-protobuf.ts writes.
 */
import { readMessage, typeReaders } from "./message.ts";
import table from "./messages.json" with { type: "json" };
import { readFields } from "./wire.ts";

export const PROTOBUF = "application/vnd.kubernetes.protobuf";

const MAGIC = Buffer.from("k8s\0");
const kinds: Readonly<Record<string, string>> = table.kinds;
const messageNamed = typeReaders(table.messages as unknown as Parameters<typeof typeReaders>[0]);

export function decodeProtobuf(bytes: Buffer): unknown {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error("not a Kubernetes protobuf body");
  const envelope = readFields(bytes.subarray(MAGIC.length));
  const type = readFields(messageIn(envelope, 1));
  const apiVersion = messageIn(type, 1).toString();
  const kind = messageIn(type, 2).toString();
  const name = kinds[kind === "DeleteOptions" ? kind : `${apiVersion}/${kind}`];
  if (name === undefined) throw new Error(`${apiVersion} ${kind} is taken as JSON only`);
  return { apiVersion, kind, ...readMessage(messageNamed(name), messageIn(envelope, 2)) };
}

function messageIn(fields: ReturnType<typeof readFields>, number: number): Buffer {
  const value = fields.get(number)?.at(-1);
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}
