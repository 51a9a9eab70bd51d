/**
 * `azlb explain`: every Service that is not as it asks, worst first. `azlb explain service/NAME`, `node/NAME` and `lb/NAME`: the
 * state of one and what it waits for. The controller is asked where its API is there, which needs no right in Azure; else the
 * command looks itself, and says which it did. Reads only; exit code 1 where something is refused or fails.
 */
import type { Command } from "commander";

import type { ClusterView } from "../main/cluster-view.ts";
import type { Subject } from "../main/explain-by-api.ts";
import type { Explanation } from "../main/explain-service.ts";
import type { DriftPolicy } from "../core/intent/service-intent.ts";
import { withCloudConfigFlags } from "./cloud-config-flags.ts";
import { allNamespacesFlag, namespaceFlag, namespaceOf } from "./cluster-flags.ts";
import { driftPolicyFlag } from "./drift-policy-flag.ts";
import { InputError } from "./input-error.ts";
import { parseNodeArgument } from "./node-argument.ts";
import { type OutputFormat, outputFlag, printAs } from "./output-flag.ts";
import { terminalProgress } from "./progress.ts";
import { parseServiceArgument } from "./service-argument.ts";
import { viewOptions, withViewFlags, type ViewFlags } from "./view-flags.ts";

const EXIT_FAILING = 1;

interface ExplainFlags extends ViewFlags {
  readonly api: string;
  readonly apiServiceAccount?: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly output?: OutputFormat;
  readonly driftPolicy: DriftPolicy;
}

export function registerExplain(azlb: Command): void {
  const command = azlb
    .command("explain [object]")
    .description(
      "print the state of a Service, a Node or a load balancer and what it waits for; without OBJECT every Service that is not as it asks, worst first; exit 1 if one is refused or fails. OBJECT: service/NAME, node/NAME or lb/NAME",
    )
    .option(
      "--api <auto|off|url>",
      "whether the controller's API is asked: auto (through the API server's proxy, where it is there), off, or its URL",
      "auto",
    )
    .option(
      "--api-service-account <[namespace/]name>",
      "ServiceAccount whose token is asked for (default: the one that the command runs as; AZLB_API_TOKEN holds a token)",
    )
    .addOption(namespaceFlag("namespace of a Service; without OBJECT only its Services"))
    .addOption(allNamespacesFlag())
    .addOption(outputFlag())
    .addOption(driftPolicyFlag("as the controller has it: which differences it would leave"));
  withCloudConfigFlags(withViewFlags(command)).action(run);
}

async function run(object: string | undefined, flags: ExplainFlags): Promise<void> {
  const subject = await subjectOf(object, flags);
  checkApi(flags.api);
  const progress = terminalProgress(process.stderr);
  try {
    const asked = await askApi(subject, flags);
    const { text, data, isFailing } = "text" in asked ? asked : await look(subject, flags, asked.why, progress.show);
    progress.clear();
    await printAs(flags.output, data, () => text);
    if (isFailing) process.exitCode = EXIT_FAILING;
  } finally {
    progress.clear();
  }
}

/** The argument is read before anything else: what is wrong with it is told at once. */
async function subjectOf(object: string | undefined, flags: ExplainFlags): Promise<Subject> {
  if (object === undefined) return { kind: "all", ...(await scopeOf(flags)) };
  if (flags.allNamespaces === true)
    throw new InputError(`--all-namespaces cannot be used with ${object}: name its namespace with -n`);
  if (/^(node|nodes|no)\//.test(object)) return { kind: "node", name: parseNodeArgument(object) };
  const [, balancer] = /^(?:lb|loadbalancer)\/([\w.-]+)$/i.exec(object) ?? [];
  if (balancer !== undefined) return { kind: "loadBalancer", name: balancer };
  return { kind: "service", key: parseServiceArgument(object, await namespaceOf(flags)) };
}

/** Without a flag: every Service that the caller may see, else those of the context's namespace. */
async function scopeOf(flags: ExplainFlags): Promise<Pick<Extract<Subject, { kind: "all" }>, "namespace" | "extent">> {
  const extent = flags.allNamespaces === true ? "all" : flags.namespace === undefined ? "visible" : "namespace";
  return { namespace: await namespaceOf(flags), extent };
}

function checkApi(api: string): void {
  const url = URL.parse(api);
  const isLoopback = /^(?:127\.0\.0\.1|localhost|\[::1\])$/.test(url?.hostname ?? "");
  if (api === "auto" || api === "off" || url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback))
    return;
  throw new InputError(`--api is "${api}"; it takes auto, off, or a URL that begins with https://`);
}

async function askApi(subject: Subject, flags: ExplainFlags): Promise<Explanation | { readonly why: string }> {
  const { api, apiServiceAccount: account, kubeconfig, context } = flags;
  if (api === "off") return { why: "--api off" };
  const [{ openApi, NoApi }, { explainByApi }, { openKubeClient }] = await Promise.all([
    import("../main/api-access.ts"),
    import("../main/explain-by-api.ts"),
    import("../main/kube-access.ts"),
  ]);
  const { client, close } = openKubeClient({ kubeconfig, context, userAgent: "azlb" });
  const named = account === undefined || account.includes("/") ? account : `${await namespaceOf(flags)}/${account}`;
  const choice = { url: api === "auto" ? undefined : api, serviceAccount: named, env: process.env };
  try {
    return await explainByApi(openApi(client, choice), subject, Date.now());
  } catch (error) {
    if (error instanceof NoApi && api === "auto") return { why: error.message };
    throw error;
  } finally {
    await close();
  }
}

async function look(
  subject: Subject,
  flags: ExplainFlags,
  why: string,
  onProgress: (text: string) => void,
): Promise<Explanation> {
  const [{ withClusterView }, { commandLog }, explain] = await Promise.all([
    import("../main/cluster-view.ts"),
    import("../main/stderr-log.ts"),
    explainerOf(subject, flags),
  ]);
  const options = { ...lookOptions(flags, why), log: commandLog(), onProgress };
  const { text, data, isFailing } = await withClusterView(options, explain);
  const toldBy = `an own look at the cluster and Azure (the controller's API: ${why})`;
  return { text: `${text}told by     ${toldBy}\n`, data: { ...data, toldBy }, isFailing };
}

/** Who has no cloud config cannot look, and should know why the controller was not asked. */
function lookOptions(flags: ExplainFlags, why: string): ReturnType<typeof viewOptions> {
  try {
    return viewOptions(flags);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(`the controller's API was not asked (${why}), and to look without it ${error.message}`);
  }
}

type Explainer = (view: ClusterView) => Promise<Explanation>;

async function explainerOf(subject: Subject, { driftPolicy }: ExplainFlags): Promise<Explainer> {
  switch (subject.kind) {
    case "all": {
      const { explainCluster } = await import("../main/explain-cluster.ts");
      return (view) =>
        explainCluster(view, { driftPolicy, ...(subject.extent === "namespace" && { namespace: subject.namespace }) });
    }
    case "node": {
      const { explainNode } = await import("../main/explain-node.ts");
      return async (view) => ({ ...(await explainNode(view, subject.name)), isFailing: false });
    }
    case "loadBalancer": {
      const { explainBalancer } = await import("../main/explain-balancer.ts");
      return async (view) => ({ ...(await explainBalancer(view, subject.name)), isFailing: false });
    }
    case "service": {
      const { explainInFull } = await import("../main/explain-service.ts");
      return (view) => explainInFull(view, subject.key, { driftPolicy });
    }
  }
}
