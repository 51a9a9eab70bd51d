/** Beside the Services: the timeline of writes, nodes as load balancers see them, and load balancers with their limits. */
import { useState } from "preact/hooks";

import type { BalancerView, SecurityGroupView } from "../core/view/balancers.ts";
import type { NodePage } from "../core/view/node-list.ts";
import type { WriteView } from "../core/view/write-view.ts";
import { useView } from "./client.ts";
import { Meter } from "./strip.tsx";
import { ago, duration } from "./views.ts";

/** As the style sheet has it. */
const NODE_PX = 28;
const NODES_IN_VIEW = 14;
const NODE_PAGE = 100;

export interface PanelProps {
  readonly revision: number;
  readonly nowMs: number;
}

/** Each write is a bar that carries so many Services: this is the group commit at work. */
export function Writes({ revision, nowMs }: PanelProps) {
  const { view } = useView<{ items: readonly WriteView[] }>("api/v1/writes?limit=40", revision);
  const items = view?.items ?? [];
  const largest = Math.max(1, ...items.map(({ size }) => size));
  return (
    <section aria-label="Writes to Azure" class="panel">
      <h2>Writes to Azure</h2>
      {items.length === 0 && <p class="quiet">None yet.</p>}
      <ol class="writes">
        {items.map((write) => (
          <Write key={write.sequence} write={write} largest={largest} nowMs={nowMs} />
        ))}
      </ol>
    </section>
  );
}

function Write({
  write,
  largest,
  nowMs,
}: {
  readonly write: WriteView;
  readonly largest: number;
  readonly nowMs: number;
}) {
  const { verb, resource, size, services, outcome, durationMs, ended, message, requestId, changes } = write;
  const isBad = outcome !== "written" && outcome !== "deleted";
  return (
    <li class={isBad ? "bad-write" : ""}>
      <details>
        <summary>
          <span class="verb">{verb.toUpperCase()}</span> {resource}
          <span class="quiet when">
            {duration(durationMs)} · {ago(ended, nowMs)} ago
          </span>
          <span class="bar-of" aria-hidden="true">
            <i style={{ width: `${Math.max(4, (100 * size) / largest)}%` }} />
          </span>
          <span class="quiet">
            {isBad
              ? `${outcome}: ${message ?? ""}`
              : `${size} fragment${size === 1 ? "" : "s"}${changes.summary === "" ? "" : `: ${changes.summary}`}`}
          </span>
        </summary>
        {services.length > 0 && <p class="small">for {services.join(", ")}</p>}
        <ul class="diff">
          {changes.lines.map(({ path, before, after }) => (
            <li key={path}>
              <code>{path}</code>
              {before !== undefined && <del>{before}</del>}
              {after !== undefined && <ins>{after}</ins>}
            </li>
          ))}
          {changes.more > 0 && <li>and {changes.more} more</li>}
        </ul>
        {requestId !== undefined && <p class="quiet small">request id {requestId}</p>}
      </details>
    </li>
  );
}

/** A list of which only the rows in view exist, as that of Services is. */
export function Nodes({ revision, nowMs }: PanelProps) {
  const [top, setTop] = useState(0);
  const page = Math.floor(top / NODE_PX / NODE_PAGE) * NODE_PAGE;
  const { view } = useView<NodePage>(`api/v1/nodes?limit=${2 * NODE_PAGE}&offset=${page}`, revision);
  const first = Math.max(0, Math.floor(top / NODE_PX) - 5);
  const rows = (view?.items ?? []).map((node, at) => ({ node, at: at + (view?.offset ?? 0) }));
  const total = view?.total ?? 0;
  return (
    <section aria-label="Nodes" class="panel">
      <h2>
        Nodes <span class="count">{view?.total ?? "…"}</span>
      </h2>
      <div
        class="node-rows"
        tabIndex={0}
        role="region"
        aria-label="List of nodes"
        style={{ height: `${Math.min(total, NODES_IN_VIEW) * NODE_PX}px` }}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      >
        <ul class="nodes" style={{ height: `${total * NODE_PX}px` }}>
          {rows
            .filter(({ at }) => at >= first && at <= first + NODES_IN_VIEW + 10)
            .map(({ node: { name, state, drain, due, services }, at }) => (
              <li
                key={name}
                class={state.replaceAll(" ", "-")}
                title={`${services} Services`}
                style={{ top: `${at * NODE_PX}px` }}
              >
                <b>{name}</b>
                <span class="quiet">
                  {state === "draining" ? `draining: ${drain.join(", ")}` : state}
                  {due !== undefined && (Date.parse(due) > nowMs ? ` · goes in ${ago(due, nowMs)}` : " · due")}
                </span>
              </li>
            ))}
        </ul>
      </div>
    </section>
  );
}

interface Balancers {
  readonly items: readonly BalancerView[];
  readonly securityGroup?: SecurityGroupView;
}

export function BalancersPanel({ revision }: PanelProps) {
  const { view } = useView<Balancers>("api/v1/loadbalancers", revision);
  const group = view?.securityGroup;
  return (
    <section aria-label="Load balancers and limits" class="panel">
      <h2>Load balancers and limits</h2>
      <ul class="balancers">
        {(view?.items ?? []).map(({ name, isManaged, services, quota, foreign }) => (
          <li key={name} class={isManaged ? "" : "foreign"}>
            <b>{name}</b> <span class="quiet">{isManaged ? `${services} Services` : "not ours, untouched"}</span>
            {quota.map(({ of, used, most }) => (
              <Limit key={of} of={of} used={used} most={most} name={name} />
            ))}
            {foreign.rules.length + foreign.frontends.length > 0 && (
              <p class="foreign small">not ours, untouched: {[...foreign.frontends, ...foreign.rules].join(", ")}</p>
            )}
          </li>
        ))}
        {group !== undefined && (
          <li>
            <b>{group.name}</b> <span class="quiet">security group</span>
            {group.quota.map(({ of, used, most }) => (
              <Limit key={of} of={of} used={used} most={most} name={group.name} />
            ))}
          </li>
        )}
      </ul>
    </section>
  );
}

function Limit({
  of,
  used,
  most,
  name,
}: {
  readonly of: string;
  readonly used: number;
  readonly most: number;
  readonly name: string;
}) {
  return (
    <div class="limit">
      <span class="quiet">{of}</span> <Meter used={used} most={most} label={`${of} of ${name}`} />
      <span class="figure">
        {used}/{most}
      </span>
    </div>
  );
}
