/** One Service: where it stands, the map of a packet's way to it, who can reach it, and what differs. */
import { useState } from "preact/hooks";

import type { ServiceDetail } from "../core/view/service-detail.ts";
import type { ProbesView } from "../core/view/probe-findings.ts";
import type { Reach } from "../core/reach/reach-service.ts";
import { useView } from "./client.ts";
import { ServiceMap } from "./service-map.tsx";
import { Copyable } from "./service-list.tsx";
import { ago } from "./views.ts";

export interface ServicePageProps {
  readonly service: string;
  readonly revision: number;
  readonly nowMs: number;
}

export function ServicePage({ service, revision, nowMs }: ServicePageProps) {
  const path = `api/v1/services/${service}`;
  const { view, error } = useView<ServiceDetail>(path, revision);
  const { view: probes } = useView<ProbesView>(`${path}/probes`, Math.floor(nowMs / PROBES_AGAIN_MS));
  if (view === undefined) return <p class="quiet">{error?.message ?? "…"}</p>;
  const { namespace, name, state, isDrifted, message, reason, since, nextTry, fix, remarks, trouble, differences } =
    view;
  return (
    <article>
      <a class="back" href="#/">
        ← all Services
      </a>
      <h2 class="title">
        <span class="quiet">{namespace}/</span>
        {name} <span class={`state ${isDrifted ? "drifted" : state}`}>{isDrifted ? "drifted" : state}</span>
        <span class="quiet small">
          {" "}
          for {ago(since, nowMs)}
          {nextTry !== undefined && `, next try in ${ago(nextTry, nowMs)}`}
        </span>
      </h2>
      {message !== undefined && (
        <div class="card">
          <p>
            <b>{reason}</b> {message}
          </p>
          {differences !== undefined && <pre>{differences}</pre>}
          {fix !== undefined && <Copyable text={fix} />}
        </div>
      )}
      {trouble.map((text) => (
        <p key={text} class="note warn">
          {text}
        </p>
      ))}
      {remarks.map((remark) => (
        <p key={remark.message} class="note">
          works, but: {remark.message}
        </p>
      ))}
      {(probes?.trouble ?? []).map((text) => (
        <p key={text} class="note warn">
          {text}
        </p>
      ))}
      <ServiceMap
        detail={view}
        notUp={new Set(probes?.items.flatMap(({ notUp }) => notUp.map(({ name: node }) => node)))}
      />
      {probes !== undefined && probes.items.length > 0 && <Probes items={probes.items} />}
      <div class="columns">
        <ReachForm path={path} revision={revision} />
        <Access detail={view} />
      </div>
    </article>
  );
}

/** Azure is asked for it, so not at every change. */
const PROBES_AGAIN_MS = 20_000;

function Probes({ items }: Pick<ProbesView, "items">) {
  return (
    <section aria-label="Probes">
      <h3>What the probes found</h3>
      <ul class="probes">
        {items.map(({ loadBalancer, port, protocol, probe, down, problem, found }) => (
          <li key={`${loadBalancer} ${port}/${protocol}`}>
            {port === 0 ? "all ports" : `${port}/${protocol}`} <span class="quiet">by {probe}</span>{" "}
            <span class={problem !== undefined ? "quiet" : down > 0 ? "bad" : "good"}>{found}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const VERDICTS: Readonly<Record<Reach["verdict"], string>> = {
  reaches: "gets there",
  blocked: "does not get there",
  unknown: "not known",
};

function ReachForm({ path, revision }: { readonly path: string; readonly revision: number }) {
  const [from, setFrom] = useState("203.0.113.1");
  const isAddress = /^[\d.]+\.\d+$|:/.test(from);
  const query = isAddress ? `${path}/reach?from=${encodeURIComponent(from)}` : undefined;
  const { view, error } = useView<{ items: readonly Reach[] }>(query, `${revision} ${from}`);
  return (
    <section aria-label="Who can reach this?">
      <h3>Who can reach this?</h3>
      <label class="field">
        from
        <input value={from} onInput={(event) => setFrom(event.currentTarget.value)} spellcheck={false} />
      </label>
      {error !== undefined && view === undefined && <p class="note warn">{error.message}</p>}
      {(view?.items ?? []).map(({ address, port, protocol, verdict, why, path: hops }) => (
        <div key={`${address} ${port}/${protocol}`} class={`verdict ${verdict}`}>
          <b>{VERDICTS[verdict]}</b> {address} port {port}/{protocol}
          <p>{why}</p>
          <ol>
            {hops.map(({ hop, text }) => (
              <li key={hop}>
                {hop}: {text}
              </li>
            ))}
          </ol>
        </div>
      ))}
    </section>
  );
}

function Access({ detail: { access } }: { readonly detail: ServiceDetail }) {
  return (
    <section aria-label="Security rules">
      <h3>Security rules, as Azure asks them</h3>
      {access.length === 0 && <p class="quiet">No rule is about its address.</p>}
      {access.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Table of security rules">
          <table>
            <thead>
              <tr>
                <th>Priority</th>
                <th>Access</th>
                <th>From</th>
                <th>Ports</th>
                <th>Rule</th>
              </tr>
            </thead>
            <tbody>
              {access.map(({ rule, priority, access: what, protocol, sources, ports, isForeign }) => (
                <tr key={rule} class={isForeign ? "foreign" : ""}>
                  <td>{priority}</td>
                  <td class={what === "Allow" ? "good" : "bad"}>{what}</td>
                  <td>{sources.join(", ")}</td>
                  <td>
                    {ports.join(", ")} {protocol}
                  </td>
                  <td class="quiet">{isForeign ? `${rule} (not ours, untouched)` : rule}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
