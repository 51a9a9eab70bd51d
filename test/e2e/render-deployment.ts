/**
 * Part of `npm run chart`: writes `deploy/deployment.yaml` and `deploy/shadow.yaml`, which are what the chart makes of its defaults and of
 * `shadow.enabled`, for those who install without Helm. `chart.e2e.ts` compares.
 */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";

import { parseAllDocuments, stringify } from "yaml";

import { renderChart } from "../support/helm.ts";

const DEPLOY = resolve(import.meta.dirname, "../../deploy");
export const DEPLOYMENT_FILE = resolve(DEPLOY, "deployment.yaml");
export const SHADOW_FILE = resolve(DEPLOY, "shadow.yaml");

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

const SHADOW_HEADER = `# Made by \`npm run chart\` from the chart with shadow.enabled (deploy/chart); do not edit: change it in an overlay of kustomize.
# azlb controller --shadow beside the incumbent: it writes nothing, and its role has no right to. kubectl apply -f deploy/shadow.yaml
# is all it needs; the cluster name and the cloud config are as in deployment.yaml.
`;

export async function renderDeployment(): Promise<string> {
  const objects = await rendered("azlb-controller");
  return HEADER + textOf(objects.filter(({ kind }) => KINDS.has(kind)));
}

export async function renderShadow(): Promise<string> {
  return SHADOW_HEADER + textOf(await rendered("azlb-shadow", "shadow.enabled=true"));
}

async function rendered(app: string, ...values: readonly string[]): Promise<readonly Rendered[]> {
  const documents = parseAllDocuments(await renderChart("clusterName=kubernetes", ...values));
  const objects = documents.map((document) => document.toJS() as Rendered | null).filter((object) => object !== null);
  for (const { metadata } of objects) metadata.labels = { app }; // the others are Helm's
  return objects;
}

function textOf(objects: readonly Rendered[]): string {
  return objects.map((object) => stringify(object, { lineWidth: 120 })).join("---\n");
}

if (import.meta.main) {
  writeFileSync(DEPLOYMENT_FILE, await renderDeployment());
  writeFileSync(SHADOW_FILE, await renderShadow());
}
