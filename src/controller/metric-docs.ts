/** `docs/metrics.md`, made of the metrics that the controller registers. Where they are served is `src/main`'s. */
import { LbcfMetrics } from "./lbcf/lbcf-metrics.ts";
import { Metrics } from "./metrics.ts";
import { ShadowMetrics } from "./shadow/shadow-metrics.ts";

/** As prom-client keeps a metric; its types leave the labels out. */
type Registered = ReturnType<Metrics["registry"]["getMetricsAsArray"]>[number] & {
  readonly labelNames?: readonly string[];
};

const HEADER = `# Metrics

Made by \`npm run docs\` from the metrics that the controller registers; do not edit.

Served at \`/metrics\` of \`azlb controller\`, in Prometheus' text form, beside the [health endpoints](../deploy/README.md#health-and-metrics)
([flags.md](flags.md): \`--bind-address\`, \`--health-port\`). A histogram is served as \`NAME_bucket\`, \`NAME_sum\` and
\`NAME_count\`.
`;

export function renderMetricDocs(): string {
  const own = new Metrics();
  const names = new Set(own.registry.getMetricsAsArray().map(({ name }) => name));
  new LbcfMetrics(own.registry).watchQueues({});
  const named = new Set(own.registry.getMetricsAsArray().map(({ name }) => name));
  ShadowMetrics.registerIn(own.registry);
  const all: readonly Registered[] = own.registry.getMetricsAsArray();
  return [
    HEADER,
    renderGroup(
      "Services, nodes and Azure",
      all.filter(({ name }) => names.has(name)),
    ),
    renderGroup(
      "LBCF, where its definitions are installed",
      all.filter(({ name }) => !names.has(name) && named.has(name)),
    ),
    renderGroup(
      "Shadow mode",
      all.filter(({ name }) => !named.has(name)),
    ),
  ].join("\n");
}

function renderGroup(title: string, metrics: readonly Registered[]): string {
  const rows = metrics.map(({ name, type, labelNames = [], help }) => {
    const labels = labelNames.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${type} | ${labels} | ${help} |`;
  });
  return [`## ${title}`, "", "| Name | Type | Labels | Help |", "|---|---|---|---|", ...rows, ""].join("\n");
}
