/** "Needs you" as cards, and all Services as a list of which only the rows in view exist: two thousand cost what twenty do. */
import { useRef, useState } from "preact/hooks";

import type { Attention } from "../core/view/standing.ts";
import type { ServiceLine, ServicePage } from "../core/view/service-list.ts";
import { useView } from "./client.ts";
import { ago } from "./views.ts";

const ROW_PX = 44;
const PAGE = 100;
const MOST_CARDS = 12;

function linkTo({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `#/services/${namespace}/${name}`;
}

export function NeedsYou({ revision, nowMs }: { readonly revision: number; readonly nowMs: number }) {
  const { view } = useView<ServicePage>(`api/v1/services?attention=needsYou&limit=${MOST_CARDS}`, revision);
  if (view === undefined || view.total === 0) return null;
  return (
    <section aria-label="Needs you">
      <h2>
        Needs you <span class="count">{view.total}</span>
      </h2>
      <ul class="cards">
        {view.items.map((line) => (
          <Card key={`${line.namespace}/${line.name}`} line={line} nowMs={nowMs} />
        ))}
      </ul>
      {view.total > MOST_CARDS && <p class="quiet">and {view.total - MOST_CARDS} more in the list below</p>}
    </section>
  );
}

function Card({ line, nowMs }: { readonly line: ServiceLine; readonly nowMs: number }) {
  const { namespace, name, state, reason, message, since, nextTry, fix, isDrifted } = line;
  return (
    <li class="card">
      <header>
        <a href={linkTo(line)}>
          <span class="quiet">{namespace}/</span>
          {name}
        </a>
        <span class={`state ${isDrifted ? "drifted" : state}`}>{isDrifted ? "drifted" : state}</span>
      </header>
      <p>{message}</p>
      {fix !== undefined && <Copyable text={fix} />}
      <footer class="quiet">
        {reason} · for {ago(since, nowMs)}
        {nextTry !== undefined && ` · next try in ${ago(nextTry, nowMs)}`}
      </footer>
    </li>
  );
}

export function Copyable({ text }: { readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <div class="copyable">
      <code tabIndex={0}>{text}</code>
      <button
        type="button"
        onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
        aria-label={`Copy: ${text}`}
      >
        {isCopied ? "copied" : "copy"}
      </button>
    </div>
  );
}

export interface ListProps {
  readonly revision: number;
  readonly nowMs: number;
  readonly attention: Attention | undefined;
}

export function ServiceList({ revision, nowMs, attention }: ListProps) {
  const [search, setSearch] = useState("");
  const [top, setTop] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const page = Math.floor(top / ROW_PX / PAGE) * PAGE;
  const query = `limit=${2 * PAGE}&offset=${page}&search=${encodeURIComponent(search)}${attention === undefined ? "" : `&attention=${attention}`}`;
  const { view } = useView<ServicePage>(`api/v1/services?${query}`, revision);
  const height = box.current?.clientHeight ?? 600;
  const first = Math.max(0, Math.floor(top / ROW_PX) - 5);
  const last = Math.ceil((top + height) / ROW_PX) + 5;
  const rows = (view?.items ?? []).map((line, at) => ({ line, at: at + (view?.offset ?? 0) }));
  return (
    <section aria-label="Services" class="services">
      <div class="bar">
        <h2>
          Services <span class="count">{view?.total ?? "…"}</span>
        </h2>
        <input
          id="search"
          type="search"
          placeholder="Find a Service or an address ( / )"
          aria-label="Find a Service or an address"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </div>
      <div
        class="rows"
        ref={box}
        tabIndex={0}
        role="region"
        aria-label="List of Services"
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onKeyDown={moveFocus}
      >
        <div style={{ height: `${(view?.total ?? 0) * ROW_PX}px` }}>
          {rows
            .filter(({ at }) => at >= first && at <= last)
            .map(({ line, at }) => (
              <Row key={`${line.namespace}/${line.name}`} line={line} at={at} nowMs={nowMs} />
            ))}
        </div>
        {view?.total === 0 && (
          <p class="quiet empty">No Service of type LoadBalancer {search === "" ? "here" : `fits "${search}"`}.</p>
        )}
      </div>
    </section>
  );
}

function Row({ line, at, nowMs }: { readonly line: ServiceLine; readonly at: number; readonly nowMs: number }) {
  const { namespace, name, state, attention, addresses, ports, since, scope, warnings, isDrifted } = line;
  return (
    <a class={`row ${attention}`} href={linkTo(line)} style={{ top: `${at * ROW_PX}px` }}>
      <span class={`dot ${attention}`} aria-hidden="true" />
      <span class="name">
        <span class="quiet">{namespace}/</span>
        {name}
      </span>
      <span class="address">{addresses.join(", ") || "no address"}</span>
      <span class="ports quiet">{ports.join(" ")}</span>
      <span class="scope quiet">{scope}</span>
      <span class={`state ${isDrifted ? "drifted" : state}`}>
        {isDrifted ? "drifted" : state}
        {warnings > 0 ? ` · ${warnings} ignored` : ""}
      </span>
      <span class="since quiet">{ago(since, nowMs)}</span>
    </a>
  );
}

/** Arrow keys go from row to row. */
function moveFocus(event: KeyboardEvent): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  const rows = [...document.querySelectorAll<HTMLElement>(".row")].sort(
    (one, other) => one.offsetTop - other.offsetTop,
  );
  const next = rows[rows.indexOf(document.activeElement as HTMLElement) + step] ?? rows[0];
  next?.focus();
  event.preventDefault();
}
