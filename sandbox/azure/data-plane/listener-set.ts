/** Keeps one listener per frontend: opens it with the frontend, closes it with the frontend, keeps it across rule changes. */
import type { ForwardingRule, Frontend } from "./forwarding.ts";
import type { FlowAcceptor, FrontendListener } from "./flow-acceptor.ts";
import { LOOPBACK } from "../../shared/loopback.ts";
import { tcpListener } from "./tcp-listener.ts";
import { udpListener } from "./udp-listener.ts";

export interface ListenerSet {
  /** Opens and closes listeners so that exactly these frontends are served. */
  serve(frontends: ReadonlyMap<string, Frontend>): void;
  reconsider(isConcerned: (rule: ForwardingRule) => boolean): void;
  /** Resolves once no listener is opening or closing. */
  opened(): Promise<void>;
  list(): readonly FrontendListener[];
  close(): Promise<void>;
}

export function listenerSet(acceptor: FlowAcceptor, log: (line: string) => void): ListenerSet {
  const listeners = new Map<string, FrontendListener>();
  /** The open or close in progress, by listener. */
  const pending = new Map<FrontendListener, Promise<void>>();

  function open(frontend: Frontend): void {
    const listener = frontend.transport === "Tcp" ? tcpListener(acceptor, frontend) : udpListener(acceptor, frontend);
    listeners.set(frontend.key, listener);
    const opening = listener.open().then(
      () => acceptor.flowTable.note({ event: "listening", frontend: frontend.key, to: `${LOOPBACK}:${listener.port}` }),
      (error: unknown) => log(`data plane: cannot listen for ${frontend.key}: ${String(error)}`),
    );
    follow(listener, opening);
  }

  function follow(listener: FrontendListener, work: Promise<void>): void {
    const done = work.finally(() => {
      if (pending.get(listener) === done) pending.delete(listener);
    });
    pending.set(listener, done);
  }

  function drop(listener: FrontendListener): void {
    const { key } = listener.frontend;
    listeners.delete(key);
    const closing = (pending.get(listener) ?? Promise.resolve()).then(() => listener.close());
    follow(
      listener,
      closing.then(() => gone(key)),
    );
  }

  function gone(key: string): void {
    acceptor.flowTable.note({ event: "gone", frontend: key });
    if (!listeners.has(key)) acceptor.flowTable.forget(key);
  }

  async function settled(): Promise<void> {
    while (pending.size > 0) await Promise.all(pending.values());
  }

  return {
    serve(frontends) {
      for (const [key, listener] of listeners) if (!frontends.has(key)) drop(listener);
      for (const [key, frontend] of frontends) {
        const listener = listeners.get(key);
        if (listener === undefined) open(frontend);
        else {
          listener.serve(frontend);
          listener.reconsider();
        }
      }
    },
    reconsider(isConcerned) {
      for (const listener of listeners.values()) if (isConcerned(listener.frontend.rule)) listener.reconsider();
    },
    opened: settled,
    list: () => [...listeners.values()],
    async close() {
      for (const listener of listeners.values()) drop(listener);
      await settled();
    },
  };
}
