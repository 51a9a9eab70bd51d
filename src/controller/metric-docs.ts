/** `docs/metrics.md`, made of the metrics that the controller registers. Where they are served is `src/main`'s. */
import { LbcfMetrics } from "./lbcf/lbcf-metrics.ts";
import { Metrics } from "./metrics.ts";
import { ShadowMetrics } from "./shadow/shadow-metrics.ts";

/** As prom-client keeps a metric; its types leave the labels out. */
export type RegisteredMetric = ReturnType<Metrics["registry"]["getMetricsAsArray"]>[number] & {
  readonly labelNames?: readonly string[];
};

const HEADER = `# Metrics

Made by \`npm run docs\` from the metrics that the controller registers; do not edit.

Served at \`/metrics\` of \`azlb controller\`, in Prometheus' text form, beside the [health endpoints](../deploy/README.md#health-and-metrics)
([flags.md](flags.md): \`--bind-address\`, \`--health-port\`). A histogram is served as \`NAME_bucket\`, \`NAME_sum\` and
\`NAME_count\`.
`;

export function renderMetricDocs(): string {
  const { own, lbcf, shadow } = registeredMetrics();
  return [
    HEADER,
    renderGroup("Services, nodes and Azure", own),
    renderGroup("LBCF, where its definitions are installed", lbcf),
    renderGroup("Shadow mode", shadow),
  ].join("\n");
}

interface MetricGroups {
  readonly own: readonly RegisteredMetric[];
  readonly lbcf: readonly RegisteredMetric[];
  readonly shadow: readonly RegisteredMetric[];
}

/** Everything that a controller may ever serve. */
export function registeredMetrics(): MetricGroups {
  const { registry } = new Metrics();
  const own: readonly RegisteredMetric[] = registry.getMetricsAsArray();
  new LbcfMetrics(registry).watchQueues({});
  const withLbcf: readonly RegisteredMetric[] = registry.getMetricsAsArray();
  ShadowMetrics.registerIn(registry);
  const all: readonly RegisteredMetric[] = registry.getMetricsAsArray();
  return { own, lbcf: withLbcf.slice(own.length), shadow: all.slice(withLbcf.length) };
}

function renderGroup(title: string, metrics: readonly RegisteredMetric[]): string {
  const rows = metrics.map(({ name, type, labelNames = [], help }) => {
    const labels = labelNames.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${type} | ${labels} | ${help} |`;
  });
  return [`## ${title}`, "", "| Name | Type | Labels | Help |", "|---|---|---|---|", ...rows, ""].join("\n");
}
