/** Installs the CRDs of LBCF (lb-controlling-framework) in a sandbox, so that its objects can be created at once. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { parse } from "yaml";

import type { NewObject } from "../kube/client/kube-client.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import type { KubeObject, Resource } from "../kube/client/resources.ts";
import { openKubeClient } from "./kube-access.ts";
import { shippedFile } from "./shipped-files.ts";

export const DEFINITIONS: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

const FOLDER = shippedFile("deploy/crds");

export function readDefinitions(): readonly (NewObject & { readonly metadata: { readonly name: string } })[] {
  const files = readdirSync(FOLDER).filter((file) => file.startsWith("lbcf."));
  return files.map(
    (file) => parse(readFileSync(join(FOLDER, file), "utf8")) as NewObject & { metadata: { name: string } },
  );
}

/** Creates the CRDs that are missing and updates the others. */
export async function ensureDefinitions(kubeconfig: string): Promise<void> {
  const { client, close } = openKubeClient({ kubeconfig, userAgent: "azlb-sandbox" });
  try {
    for (const definition of readDefinitions()) {
      try {
        await client.create(DEFINITIONS, definition);
      } catch (error) {
        if (!isFailure(error, "alreadyExists")) throw error;
        const { name } = definition.metadata;
        await client.patch<KubeObject>(DEFINITIONS, { name }, { merge: { spec: definition["spec"] } });
      }
    }
  } finally {
    await close();
  }
}
