/** The page: signs in where the API asks for it, follows the stream of changes, and shows all Services or one of them. */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";

import type { Attention } from "../core/view/standing.ts";
import { Denied, signIn, useStream } from "./client.ts";
import { BalancersPanel, Nodes, Writes } from "./panels.tsx";
import { Sandbox } from "./sandbox.tsx";
import { NeedsYou, ServiceList } from "./service-list.tsx";
import { ServicePage } from "./service-page.tsx";
import { Strip } from "./strip.tsx";
import type { Overview } from "./views.ts";

function App() {
  const [session, setSession] = useState(0);
  const { view: overview, error } = useStream<Overview>("api/v1/changes", session);
  const service = useService();
  const nowMs = useNow();
  const [attention, setAttention] = useState<Attention>();
  useKeys();
  if (error instanceof Denied) {
    // who may not see everything may see one Service
    return (
      <SignIn
        why={error.message}
        service={service}
        onSignIn={() => setSession(session + 1)}
        nowMs={nowMs}
        session={session}
      />
    );
  }
  if (overview === undefined) return <p class="quiet empty">{error?.message ?? "…"}</p>;
  const { revision, leader, cluster, version, unready, notices = [] } = overview;
  return (
    <>
      <Head cluster={cluster} version={version} leader={leader} isLive={error === undefined} />
      <main>
        {!leader.leads && <p class="note warn">This process waits; {leader.holder || "nobody"} leads.</p>}
        {unready !== undefined && <p class="note warn">The controller writes nothing, for no Service: {unready}</p>}
        {notices.map((text) => (
          <p key={text} class="note warn">
            {text}
          </p>
        ))}
        <Strip overview={overview} nowMs={nowMs} shown={attention} onShow={setAttention} />
        <div class={service === undefined ? "layout" : "layout one-service"}>
          <div>
            {service === undefined ? (
              <>
                <Sandbox />
                <NeedsYou revision={revision} nowMs={nowMs} />
                <ServiceList revision={revision} nowMs={nowMs} attention={attention} />
              </>
            ) : (
              <ServicePage service={service} revision={revision} nowMs={nowMs} />
            )}
          </div>
          <aside aria-label="Azure and nodes">
            <Writes revision={revision} nowMs={nowMs} />
            <Nodes revision={revision} nowMs={nowMs} />
            <BalancersPanel revision={revision} nowMs={nowMs} />
          </aside>
        </div>
      </main>
    </>
  );
}

interface HeadProps extends Pick<Overview, "cluster" | "version" | "leader"> {
  readonly isLive: boolean;
}

function Head({ cluster, version, leader, isLive }: HeadProps) {
  return (
    <header class="head">
      <a href="#/" class="brand">
        <img src="icon.svg" alt="" width="26" height="26" />
        <h1>azlb</h1>
      </a>
      <span class="quiet">
        {cluster} · {version}
      </span>
      <span class="leader quiet" title={leader.identity}>
        leader {leader.holder.split("_")[0]}
      </span>
      <span class={`live ${isLive ? "" : "off"}`} role="status">
        {isLive ? "live" : "connecting…"}
      </span>
    </header>
  );
}

interface SignInProps {
  readonly why: string;
  readonly service: string | undefined;
  readonly session: number;
  readonly nowMs: number;
  readonly onSignIn: () => void;
}

/** Of a namespace's user: its own Services, by their names. */
function SignIn({ why, service, session, nowMs, onSignIn }: SignInProps) {
  const [token, setToken] = useState("");
  const [key, setKey] = useState(service ?? "");
  const submit = (event: Event): void => {
    event.preventDefault();
    if (token !== "") signIn(token);
    if (key.includes("/")) location.hash = `#/services/${key}`;
    onSignIn();
  };
  return (
    <main class="sign-in">
      <h1>azlb</h1>
      <form onSubmit={submit} class="card">
        <label class="field">
          Token
          <input
            type="password"
            autocomplete="off"
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          One Service
          <input
            placeholder="namespace/name, or empty for all"
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Sign in</button>
        <p class="quiet small">{why}</p>
      </form>
      {service !== undefined && <ServicePage service={service} revision={session} nowMs={nowMs} />}
    </main>
  );
}

/** `namespace/name` of the address bar. */
function useService(): string | undefined {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = (): void => setHash(location.hash);
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return /^#\/services\/([^/]+\/[^/]+)$/.exec(hash)?.[1];
}

function useNow(): number {
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}

/** `/` finds, Escape goes back. */
function useKeys(): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const isTyping = document.activeElement instanceof HTMLInputElement;
      if (event.key === "/" && !isTyping) {
        document.getElementById("search")?.focus();
        event.preventDefault();
      }
      if (event.key === "Escape") location.hash = "#/";
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

const root = document.getElementById("app");
if (root !== null) render(<App />, root);
