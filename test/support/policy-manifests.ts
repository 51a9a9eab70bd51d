/** The ValidatingAdmissionPolicies of `deploy/policies`, as they are shipped: one policy and its binding per file. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { parse, parseAllDocuments } from "yaml";

const FOLDER = resolve(import.meta.dirname, "../../deploy/policies");
const KUSTOMIZATION = "kustomization.yaml";

interface PolicyObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly failurePolicy?: string;
    readonly variables?: readonly { readonly name: string; readonly expression: string }[];
    readonly validations?: readonly { readonly reason?: string; readonly messageExpression?: string }[];
    readonly policyName?: string;
    readonly validationActions?: readonly string[];
  };
}

interface PolicyFile {
  readonly file: string;
  readonly text: string;
  readonly objects: readonly PolicyObject[];
  /** Errors and warnings of the YAML parser. */
  readonly problems: readonly string[];
}

export function readPolicyFiles(): readonly PolicyFile[] {
  const files = readdirSync(FOLDER).filter((file) => file !== KUSTOMIZATION);
  return files.toSorted().map((file) => {
    const text = readFileSync(join(FOLDER, file), "utf8");
    const documents = parseAllDocuments(text);
    const problems = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings].map(String));
    return { file, text, objects: documents.map((one) => one.toJS() as PolicyObject), problems };
  });
}

/** The files that `kubectl apply -k deploy/policies` applies. */
export function kustomizedFiles(): readonly string[] {
  const kustomization = parse(readFileSync(join(FOLDER, KUSTOMIZATION), "utf8")) as { resources: readonly string[] };
  return kustomization.resources;
}
