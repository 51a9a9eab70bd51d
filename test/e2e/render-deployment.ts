/**
 * Part of `npm run chart`: writes `deploy/deployment.yaml`, which is what the chart makes of its defaults, for those who install
 * without Helm. `chart.e2e.ts` compares.
 */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";

import { parseAllDocuments, stringify } from "yaml";

import { renderChart } from "../support/helm.ts";

export const DEPLOYMENT_FILE = resolve(import.meta.dirname, "../../deploy/deployment.yaml");

const HEADER = `# Made by \`npm run chart\` from the chart's defaults (deploy/chart); do not edit: change it in an overlay of kustomize.
# The cluster name must be the one that the cluster's Azure resources bear. The cloud config is the incumbent's
# /etc/kubernetes/azure.json on the control plane; user 65532 must be able to read it. Where only root may, put it into a
# Secret instead: --cloud-config-secret-name.
`;
const KINDS = new Set(["Deployment", "PodDisruptionBudget"]);

interface Rendered {
  readonly kind: string;
  readonly metadata: { labels?: Record<string, string> };
}

export async function renderDeployment(): Promise<string> {
  const documents = parseAllDocuments(await renderChart("clusterName=kubernetes"));
  const objects = documents.map((document) => document.toJS() as Rendered).filter(({ kind }) => KINDS.has(kind));
  for (const { metadata } of objects) metadata.labels = { app: "azlb-controller" }; // the others are Helm's
  return HEADER + objects.map((object) => stringify(object, { lineWidth: 120 })).join("---\n");
}

if (import.meta.main) writeFileSync(DEPLOYMENT_FILE, await renderDeployment());
