/**
 * Part of `npm run chart`: the Grafana dashboard, made of the table below. That its queries name metrics and labels which exist is
 * checked by `test/structure/monitoring.test.ts`; Grafana's own look at things (colours, sizes) is left at its defaults.
 */
type Unit = "short" | "s" | "percentunit" | "reqps" | "bytes";

interface Query {
  readonly expr: string;
  readonly legend?: string;
}

interface Panel {
  readonly title: string;
  readonly means: string;
  readonly unit?: Unit;
  /** Absent: a graph over time. */
  readonly kind?: "stat" | "timeseries";
  /** Of 24 columns. */
  readonly width?: number;
  readonly queries: readonly Query[];
}

interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const RANGE = "[$__rate_interval]";

const ROWS: readonly Row[] = [
  {
    title: "Now",
    panels: [
      stat("Leads", "How many processes lead: one.", "sum(azlb_leader)"),
      stat("Not as they ask", "Pending, failing or refused.", 'sum(azlb_services{state=~"pending|failing|refused"})'),
      stat(
        "Longest wait",
        "Of a Service that is pending or failing.",
        "max(azlb_oldest_unserved_service_seconds)",
        "s",
      ),
      stat("Withheld", "By the brake: azlb plan tells more.", "sum(azlb_brake_withheld)"),
      stat("Drifted", "Services that somebody changed in Azure.", "sum(azlb_drifted_services)"),
      stat("Draining nodes", "Held Down.", "sum(loadbalancer_adminstate_draining_nodes)"),
    ],
  },
  {
    title: "Services",
    panels: [
      graph("Services by state", "Served, and the others.", [
        { expr: "sum by (state) (azlb_services)", legend: "{{state}}" },
      ]),
      graph(
        "Time to an address",
        "From a new Service seen to served.",
        quantiles("azlb_service_time_to_address_seconds"),
        "s",
      ),
      graph("Work that waits", "Keys that are due; a height that stays means that Azure or the API server is slow.", [
        { expr: "sum by (name) (workqueue_depth)", legend: "{{name}}" },
      ]),
      graph(
        "Syncs",
        "By outcome.",
        [
          {
            expr: `sum by (outcome) (rate(service_controller_loadbalancer_sync_total${RANGE}))`,
            legend: "{{outcome}}",
          },
        ],
        "reqps",
      ),
    ],
  },
  {
    title: "Azure",
    panels: [
      graph(
        "Calls",
        "By method and resource.",
        [
          {
            expr: `sum by (method, resource) (rate(arm_request_duration_seconds_count${RANGE}))`,
            legend: "{{method}} {{resource}}",
          },
        ],
        "reqps",
      ),
      graph(
        "Calls that failed",
        "By kind of failure.",
        [
          {
            expr: `sum by (error_code) (rate(arm_request_errors_counter_total${RANGE}))`,
            legend: "{{error_code}}",
          },
        ],
        "reqps",
      ),
      graph("Duration of calls", "Of all methods.", quantiles("arm_request_duration_seconds"), "s"),
      graph("Services in one write", "Group commit: fragments that left together.", [
        {
          expr: `sum(rate(azlb_group_commit_fragments_sum${RANGE})) / sum(rate(azlb_group_commit_fragments_count${RANGE}))`,
          legend: "mean",
        },
      ]),
      graph(
        "Throttle budget left",
        "Share of the calls that may leave at once.",
        [
          {
            expr: "min by (subscription, calls) (azlb_arm_tokens / azlb_arm_tokens_limit)",
            legend: "{{calls}}",
          },
        ],
        "percentunit",
      ),
      graph(
        "Quota used",
        "Share of Azure's limits; the largest of each resource.",
        [
          {
            expr: "max by (resource, quota) (azlb_quota_used / azlb_quota_limit)",
            legend: "{{resource}} {{quota}}",
          },
        ],
        "percentunit",
      ),
    ],
  },
  {
    title: "Nodes",
    panels: [
      graph(
        "From taint to Down",
        "Accepted by Azure in all pools.",
        quantiles("loadbalancer_adminstate_latency_seconds"),
        "s",
      ),
      graph("Evictions", "Down in time, or too late.", [
        {
          expr: "sum by (outcome) (increase(loadbalancer_adminstate_evictions_total[1h]))",
          legend: "{{outcome}}",
        },
      ]),
    ],
  },
  {
    title: "API server",
    panels: [
      graph(
        "Silence of watches",
        "Since the API server last sent anything; bookmarks come about every minute.",
        [{ expr: "max by (resource) (azlb_watch_silence_seconds)", legend: "{{resource}}" }],
        "s",
      ),
      graph(
        "Requests that failed",
        "By resource and status.",
        [
          {
            expr: `sum by (resource, status_code) (rate(azlb_kube_request_errors_total${RANGE}))`,
            legend: "{{resource}} {{status_code}}",
          },
        ],
        "reqps",
      ),
    ],
  },
];

export function renderDashboard(): string {
  return `${JSON.stringify(dashboard(), null, 2)}\n`;
}

function dashboard(): object {
  const panels: object[] = [];
  let y = 0;
  for (const row of ROWS) {
    panels.push({ type: "row", title: row.title, id: panels.length + 1, gridPos: { x: 0, y, w: 24, h: 1 } });
    y += 1;
    let x = 0;
    for (const panel of row.panels) {
      const { width: w = 12, kind = "timeseries" } = panel;
      const h = kind === "stat" ? 4 : 8;
      if (x + w > 24) [x, y] = [0, y + h];
      panels.push({ ...rendered(panel, kind), id: panels.length + 1, gridPos: { x, y, w, h } });
      x += w;
    }
    y += row.panels[0]?.kind === "stat" ? 4 : 8;
  }
  return {
    uid: "azlb",
    title: "azlb",
    description: "Azure load balancers of a cluster's Services",
    tags: ["azlb"],
    schemaVersion: 39,
    refresh: "30s",
    time: { from: "now-3h", to: "now" },
    templating: { list: [{ name: "datasource", label: "Data source", type: "datasource", query: "prometheus" }] },
    panels,
  };
}

function rendered({ title, means, unit = "short", queries }: Panel, type: string): object {
  const datasource = { type: "prometheus", uid: "${datasource}" };
  return {
    type,
    title,
    description: means,
    datasource,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: queries.map(({ expr, legend = "" }, at) => ({
      refId: String.fromCharCode(65 + at),
      datasource,
      expr,
      legendFormat: legend,
    })),
  };
}

function stat(title: string, means: string, expr: string, unit: Unit = "short"): Panel {
  return { title, means, kind: "stat", width: 4, unit, queries: [{ expr }] };
}

function graph(title: string, means: string, queries: readonly Query[], unit: Unit = "short"): Panel {
  return { title, means, unit, queries };
}

function quantiles(histogram: string): Query[] {
  return ["0.5", "0.99"].map((share) => ({
    expr: `histogram_quantile(${share}, sum by (le) (rate(${histogram}_bucket${RANGE})))`,
    legend: `p${Number(share) * 100}`,
  }));
}
