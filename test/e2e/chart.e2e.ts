/**
 * The chart with the real helm: it lints, renders what the snapshots in `test/fixtures/chart` have, refuses wrong values by name,
 * and is what `deploy` installs without Helm. `AZLB_WRITE_SNAPSHOTS=1` writes the snapshots anew.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { before, suite, test } from "node:test";
import { promisify } from "node:util";

import { parse, parseAllDocuments } from "yaml";

import { controlPlaneBinaries } from "../support/control-plane-binaries.ts";
import { CHART, helm, helmBinary, renderChart } from "../support/helm.ts";
import { DEPLOYMENT_FILE, renderDeployment, renderShadow, SHADOW_FILE } from "./render-deployment.ts";

const SNAPSHOTS = resolve(import.meta.dirname, "../fixtures/chart");
const DEPLOY = resolve(import.meta.dirname, "../../deploy");
const NAME = "clusterName=prod";
const DIGEST = `sha256:${"0123456789abcdef".repeat(4)}`;

/** Values by the name of their snapshot. */
const CASES: Readonly<Record<string, readonly string[]>> = {
  defaults: [NAME],
  secret: [NAME, "cloudConfig.secret.name=azure", "cloudConfig.secret.key=azure.json"],
  inline: [NAME, "cloudConfig.inline.tenantId=t", "cloudConfig.inline.useManagedIdentityExtension=true"],
  "workload-identity": [
    NAME,
    "workloadIdentity.enabled=true",
    "workloadIdentity.clientId=11111111-2222-3333-4444-555555555555",
    "workloadIdentity.tenantId=66666666-7777-8888-9999-000000000000",
  ],
  "host-network": [NAME, "hostNetwork=true", "replicas=1", "podDisruptionBudget.enabled=false"],
  "one-replica": [NAME, "replicas=1"],
  image: [NAME, `image.digest=${DIGEST}`, "image.repository=registry.example/azlb", "imagePullSecrets[0].name=pull"],
  flags: [
    NAME,
    "controller.loadBalancerClass=azlb.io/own",
    "controller.driftPolicy=enforce",
    "controller.logLevel=warn",
    "controller.extraArgs[0]=--brake-share=50%",
    "controller.extraEnv[0].name=HTTPS_PROXY",
    "controller.extraEnv[0].value=http://proxy.example:3128",
  ],
  placement: [
    NAME,
    "nodeSelector=null",
    "tolerations=null",
    "priorityClassName=",
    "podLabels.team=net",
    "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution=null",
    "topologySpreadConstraints[0].maxSkew=1",
    "topologySpreadConstraints[0].topologyKey=zone",
    "topologySpreadConstraints[0].whenUnsatisfiable=DoNotSchedule",
  ],
  monitoring: [
    NAME,
    "serviceMonitor.enabled=true",
    "serviceMonitor.labels.release=prometheus",
    "podMonitor.enabled=true",
    "prometheusRule.enabled=true",
    "prometheusRule.labels.release=prometheus",
    "prometheusRule.runbookBaseUrl=https://docs.example/runbooks/",
    "grafanaDashboard.enabled=true",
    "networkPolicy.enabled=true",
    "networkPolicy.from[0].namespaceSelector.matchLabels.name=monitoring",
  ],
  api: [
    NAME,
    "api.enabled=true",
    "api.tlsSecret=azlb-api-tls",
    "api.from[0].ipBlock.cidr=10.0.0.0/24",
    "networkPolicy.enabled=true",
  ],
  agent: [
    NAME,
    "agent.enabled=true",
    "agent.writeTaints=true",
    "agent.approveAfter=30s",
    "agent.extraArgs[0]=--poll-interval=2s",
  ],
  viewer: [NAME, "viewerRole.enabled=true", "severalLoadBalancers.enabled=true"],
  shadow: [NAME, "shadow.enabled=true", "viewerRole.enabled=true", "replicas=3"],
  "shadow-secret": [NAME, "shadow.enabled=true", "shadow.settle=5m", "cloudConfig.secret.name=azure"],
};

const WITH_GATE = [NAME, "lbcf.enabled=true", "lbcf.readinessGate=true"];

/** Values that are refused, and what is said. */
const REFUSED: readonly (readonly [values: readonly string[], said: RegExp])[] = [
  [[], /clusterName.*minLength/s],
  [[NAME, "cluster.name=x"], /additional properties 'cluster' not allowed/],
  [[NAME, "image.digest=latest"], /image\/digest.*does not match pattern/s],
  [[NAME, "replicas=two"], /replicas.*got string, want integer/s],
  [[NAME, "controller.driftPolicy=fix"], /driftPolicy.*must be one of 'report', 'enforce', 'ignore'/s],
  [[NAME, "controller.extraArgs[0]=leader-elect=false"], /extraArgs\/0.*does not match pattern/s],
  [[NAME, "agent.approveAfter=soon"], /agent\/approveAfter.*does not match pattern/s],
  [[NAME, "cloudConfig.file=azure.json"], /cloudConfig\/file.*does not match pattern/s],
  [[NAME, "workloadIdentity.enabled=true"], /workloadIdentity.clientId is missing/],
  [[NAME, "cloudConfig.secret.name=a", "cloudConfig.inline.a=b"], /both inline and secret/],
  [[NAME, "shadow.enabled=true", "api.enabled=true"], /a shadow has no API/],
  [[NAME, "shadow.settle=long"], /shadow\/settle.*does not match pattern/s],
];

before(async () => {
  await helmBinary((line) => process.stderr.write(`helm: ${line}\n`));
});

test("helm lint finds nothing", async () => {
  assert.match(
    await helm("lint", "--strict", CHART, "--set", NAME, "--namespace", "kube-system"),
    /0 chart\(s\) failed/,
  );
});

suite("what is rendered", () => {
  for (const [name, values] of Object.entries(CASES)) {
    test(name, async () => {
      const file = resolve(SNAPSHOTS, `${name}.yaml`);
      const rendered = withoutCopies(await renderChart(...values));
      if (process.env["AZLB_WRITE_SNAPSHOTS"] === "1") writeFileSync(file, rendered);
      assert.equal(rendered, readFileSync(file, "utf8"));
    });
  }

  test("with everything each object is there once", async () => {
    const parts = [
      "agent",
      "api",
      "lbcf",
      "policies",
      "viewerRole",
      "severalLoadBalancers",
      "serviceMonitor",
      "podMonitor",
      "prometheusRule",
      "grafanaDashboard",
    ];
    const values = [...WITH_GATE, "networkPolicy.enabled=true", ...parts.map((part) => `${part}.enabled=true`)];
    const rendered = await renderFor(["v1"], values);
    const names = objectsOf(rendered).map(({ kind, metadata }) => `${kind}/${metadata.namespace}/${metadata.name}`);
    assert.deepEqual(names, [...new Set(names)]);
    assert.equal(names.filter((name) => name.startsWith("CustomResourceDefinition/")).length, 5);
    assert.equal(names.filter((name) => name.startsWith("MutatingAdmissionPolicy/")).length, 2);
  });

  test("the policies of the readiness gate have the newest version that the cluster serves", async () => {
    const kind = "MutatingAdmissionPolicy";
    for (const versions of [["v1"], ["v1beta1"], ["v1beta1", "v1"]]) {
      const rendered = await renderFor(versions, WITH_GATE);
      const policies = objectsOf(rendered).filter((object) => object.kind.startsWith(kind));
      assert.deepEqual(
        policies.map(({ apiVersion }) => apiVersion),
        policies.map(() => `admissionregistration.k8s.io/${versions.at(-1)}`),
      );
      assert.equal(policies.length, 4);
    }
  });

  test("an uninstall keeps the definitions", async () => {
    const objects = objectsOf(await renderChart(NAME, "lbcf.enabled=true"));
    const definitions = objects.filter(({ kind }) => kind === "CustomResourceDefinition");
    for (const { metadata } of definitions) assert.equal(metadata.annotations?.["helm.sh/resource-policy"], "keep");
  });
});

test("the controller may read the Secret with its cloud config, and no other", async () => {
  for (const [values, secret] of [
    [[], "azure-cloud-provider"],
    [["cloudConfig.secret.name=azure"], "azure"],
    [["cloudConfig.inline.tenantId=t"], "azlb-cloud-config"],
  ] as const) {
    const roles = objectsOf(await renderChart(NAME, ...values)).flatMap(({ rules = [] }) => rules);
    const allowed = roles.filter(({ resources }) => resources.includes("secrets"));
    assert.deepEqual(
      allowed.map(({ resourceNames, verbs }) => [resourceNames, verbs]),
      [[[secret], ["get"]]],
    );
  }
});

test("the chart's alerts and its dashboard are those of deploy/monitoring", async () => {
  const objects = objectsOf(await renderChart(NAME, "prometheusRule.enabled=true", "grafanaDashboard.enabled=true"));
  const rule = objects.find(({ kind }) => kind === "PrometheusRule");
  assert.deepEqual(rule?.spec, parse(readFileSync(resolve(DEPLOY, "monitoring/alerts.yaml"), "utf8")));
  const map = objects.find(({ kind }) => kind === "ConfigMap");
  assert.equal(map?.metadata.labels?.["grafana_dashboard"], "1");
  const dashboard = JSON.parse(readFileSync(resolve(DEPLOY, "monitoring/dashboard.json"), "utf8")) as unknown;
  assert.deepEqual(JSON.parse(map?.data?.["azlb.json"] ?? ""), dashboard);
});

test("the agent's DaemonSet has its values", async () => {
  const rendered = async (...values: readonly string[]) =>
    objectsOf(await renderChart(NAME, "agent.enabled=true", ...values));
  const roles = (objects: readonly Rendered[]): string[] =>
    objects.filter(({ kind }) => kind === "ClusterRole").map(({ metadata }) => metadata.name);
  const image = `agent.image.digest=${DIGEST}`;
  const more = ["agent.writeTaints=true", "agent.approveAfter=30s", "agent.extraArgs[0]=--poll-interval=2s"];
  const objects = await rendered(image, ...more);
  const [container] = objects.find(({ kind }) => kind === "DaemonSet")?.spec?.template.spec.containers ?? [];
  assert.equal(container?.image, `azlb-agent@${DIGEST}`);
  assert.deepEqual(container?.args, ["agent", "--write-taints", "--approve-after=30s", "--poll-interval=2s"]);
  const wanted = ["azlb-agent-approval", "azlb-agent-taints"];
  assert.deepEqual(
    wanted.filter((name) => roles(objects).includes(name)),
    wanted,
  );
  const plain = roles(await rendered());
  assert.deepEqual(
    wanted.filter((name) => plain.includes(name)),
    [],
    "rights only where they are asked for",
  );
});

suite("what is refused", () => {
  for (const [values, said] of REFUSED) {
    test(values.join(", ") || "no values", () => assert.rejects(renderChart(...values), said));
  }

  test("another namespace", () =>
    assert.rejects(helm("template", "azlb", CHART, "--set", NAME), /install with --namespace kube-system/));
});

test("deploy/deployment.yaml is what the chart makes of its defaults (npm run chart)", async () => {
  assert.equal(await renderDeployment(), readFileSync(DEPLOYMENT_FILE, "utf8"));
});

test("deploy/shadow.yaml is what the chart makes of shadow.enabled (npm run chart)", async () => {
  assert.equal(await renderShadow(), readFileSync(SHADOW_FILE, "utf8"));
});

test("the shadow may read, and nothing else; nothing of the controller is there", async () => {
  const objects = objectsOf(await renderChart(NAME, "shadow.enabled=true", "cloudConfig.secret.name=azure"));
  const verbs = objects.flatMap(({ rules = [] }) => rules.flatMap((rule) => rule.verbs));
  assert.deepEqual([...new Set(verbs)].toSorted(), ["get", "list", "watch"]);
  assert.deepEqual(
    objects.filter(({ metadata }) => metadata.name.startsWith("azlb-controller")),
    [],
  );
});

test("kubectl kustomize deploy gives the objects of the chart", async () => {
  const { kubectl } = await controlPlaneBinaries(() => {});
  const { stdout } = await promisify(execFile)(kubectl, ["kustomize", DEPLOY]);
  assert.deepEqual(plain(stdout), plain(await renderChart("clusterName=kubernetes")));
});

interface Rule {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface Container {
  readonly image: string;
  readonly args: readonly string[];
}

interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly rules?: readonly Rule[];
  readonly spec?: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** For a cluster that serves MutatingAdmissionPolicies in these versions. */
function renderFor(versions: readonly string[], values: readonly string[]): Promise<string> {
  const served = versions.map((each) => `--api-versions=admissionregistration.k8s.io/${each}/MutatingAdmissionPolicy`);
  const set = values.flatMap((value) => ["--set", value]);
  return helm("template", "azlb", CHART, "--namespace", "kube-system", ...served, ...set);
}

function objectsOf(text: string): Rendered[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Rendered);
}

/** Of what the chart has from files of `deploy`, only kind and name. */
function withoutCopies(rendered: string): string {
  const parts = rendered.split(/^---\n/m).filter((part) => part.trim() !== "");
  const shown = parts.map((part) => {
    const isCopy = /^# Source: azlb\/templates\/(roles|lbcf|policies|agent)\.yaml/.test(part);
    if (!isCopy && !/^kind: (PrometheusRule|ConfigMap)$/m.test(part)) return part;
    return objectsOf(part)
      .map(({ kind, metadata }) => `# ${kind} ${metadata.name}\n`)
      .join("");
  });
  return shown.join("---\n");
}

/** By kind and name, without labels: Helm adds its own. */
function plain(text: string): Readonly<Record<string, Rendered>> {
  const objects = objectsOf(text);
  for (const { metadata } of objects) delete metadata.labels;
  return Object.fromEntries(objects.map((object) => [`${object.kind}/${object.metadata.name}`, object]));
}
