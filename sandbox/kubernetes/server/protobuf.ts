/**
 * The few protobuf bodies that kubectl insists on (`create namespace|configmap|secret|service`), as JSON. The envelope is
 * `k8s\0` and a message {1: {1 apiVersion, 2 kind}, 2: the object}; empty strings are sent and mean unset.
 */
export const PROTOBUF = "application/vnd.kubernetes.protobuf";

const MAGIC = Buffer.from("k8s\0");

type Field = Buffer | number;
type Fields = ReadonlyMap<number, readonly Field[]>;

export function decodeProtobuf(bytes: Buffer): unknown {
  if (!bytes.subarray(0, 4).equals(MAGIC)) throw new Error("not a Kubernetes protobuf body");
  const envelope = decodeFields(bytes.subarray(4));
  const type = decodeFields(bytesIn(envelope, 1));
  const apiVersion = textIn(type, 1) ?? "";
  const kind = textIn(type, 2) ?? "";
  if (kind === "DeleteOptions") return deleteOptions(decodeFields(bytesIn(envelope, 2)));
  const decodeKind = KINDS[`${apiVersion}/${kind}`];
  if (decodeKind === undefined) throw new Error(`${apiVersion} ${kind} is taken as JSON only`);
  const object = decodeFields(bytesIn(envelope, 2));
  return defined({ apiVersion, kind, metadata: metadata(decodeFields(bytesIn(object, 1))), ...decodeKind(object) });
}

const KINDS: Readonly<Record<string, (object: Fields) => Record<string, unknown>>> = {
  "v1/Namespace": () => ({}),
  "v1/ConfigMap": (object) => ({
    data: mapIn(object, 2, "utf8"),
    binaryData: mapIn(object, 3, "base64"),
    immutable: flagIn(object, 4),
  }),
  "v1/Service": (object) => ({ spec: serviceSpec(decodeFields(bytesIn(object, 2))) }),
  "v1/Secret": (object) => ({
    data: mapIn(object, 2, "base64"),
    type: textIn(object, 3),
    stringData: mapIn(object, 4, "utf8"),
    immutable: flagIn(object, 5),
  }),
};

function metadata(meta: Fields): Record<string, unknown> {
  const owners = (meta.get(13) ?? []).filter(isBytes).map((bytes) => {
    const owner = decodeFields(bytes);
    return defined({
      kind: textIn(owner, 1),
      name: textIn(owner, 3),
      uid: textIn(owner, 4),
      apiVersion: textIn(owner, 5),
      controller: flagIn(owner, 6),
      blockOwnerDeletion: flagIn(owner, 7),
    });
  });
  const finalizers = (meta.get(14) ?? []).filter(isBytes).map((bytes) => bytes.toString());
  return defined({
    name: textIn(meta, 1),
    generateName: textIn(meta, 2),
    namespace: textIn(meta, 3),
    labels: mapIn(meta, 11, "utf8"),
    annotations: mapIn(meta, 12, "utf8"),
    ownerReferences: owners.length === 0 ? undefined : owners,
    finalizers: finalizers.length === 0 ? undefined : finalizers,
  });
}

function serviceSpec(spec: Fields): Record<string, unknown> {
  const ports = (spec.get(1) ?? []).filter(isBytes).map((bytes) => {
    const port = decodeFields(bytes);
    const target = decodeFields(bytesIn(port, 4));
    return defined({
      name: textIn(port, 1),
      protocol: textIn(port, 2),
      port: port.get(3)?.[0],
      targetPort: textIn(target, 3) ?? target.get(2)?.[0],
      nodePort: port.get(5)?.[0],
    });
  });
  return defined({
    ports: ports.length === 0 ? undefined : ports,
    selector: mapIn(spec, 2, "utf8"),
    clusterIP: textIn(spec, 3),
    type: textIn(spec, 4),
    externalName: textIn(spec, 10),
  });
}

function deleteOptions(options: Fields): Record<string, unknown> {
  const preconditions = decodeFields(bytesIn(options, 2));
  return defined({
    gracePeriodSeconds: options.get(1)?.[0],
    preconditions: defined({ uid: textIn(preconditions, 1), resourceVersion: textIn(preconditions, 2) }),
    propagationPolicy: textIn(options, 4),
  });
}

/** Field number → its values in order. Wire types: 0 varint, 2 length-delimited; the others do not occur here. */
function decodeFields(bytes: Buffer): Fields {
  const fields = new Map<number, Field[]>();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error("the protobuf body ends too early");
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    const values = fields.get(number) ?? [];
    fields.set(number, values);
    if (tag % 8 === 0) {
      values.push(varint());
    } else if (tag % 8 === 2) {
      const length = varint();
      values.push(bytes.subarray(at, (at += length)));
    } else {
      throw new Error(`unexpected wire type ${tag % 8} in the protobuf body`);
    }
  }
  return fields;
}

const isBytes = (value: Field): value is Buffer => Buffer.isBuffer(value);

function bytesIn(fields: Fields, number: number): Buffer {
  const value = fields.get(number)?.[0];
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

function textIn(fields: Fields, number: number): string | undefined {
  return bytesIn(fields, number).toString() || undefined;
}

function flagIn(fields: Fields, number: number): boolean | undefined {
  const value = fields.get(number)?.[0];
  return value === undefined ? undefined : value === 1;
}

/** A map is a list of entries {1: key, 2: value}. */
function mapIn(fields: Fields, number: number, encoding: "utf8" | "base64"): Record<string, string> | undefined {
  const entries = fields.get(number)?.filter(isBytes).map(decodeFields);
  if (entries === undefined) return undefined;
  return Object.fromEntries(entries.map((entry) => [textIn(entry, 1) ?? "", bytesIn(entry, 2).toString(encoding)]));
}

function defined(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
