/** The listeners of all frontends: opened when a frontend appears, closed when it is gone, kept while it changes. */
import type { ForwardingRule, Frontend } from "./forwarding.ts";
import type { FlowAcceptor, FrontendListener } from "./flow-acceptor.ts";
import { LOOPBACK } from "./loopback.ts";
import { tcpListener } from "./tcp-listener.ts";
import { udpListener } from "./udp-listener.ts";

export interface ListenerSet {
  /** Listens for these frontends, and for no others. */
  serve(frontends: ReadonlyMap<string, Frontend>): void;
  reconsider(isConcerned: (rule: ForwardingRule) => boolean): void;
  /** Resolves once all that are being opened are open. */
  opened(): Promise<void>;
  list(): readonly FrontendListener[];
  close(): Promise<void>;
}

export function listenerSet(desk: FlowAcceptor, log: (line: string) => void): ListenerSet {
  const listeners = new Map<string, FrontendListener>();
  /** By listener: its opening, and after that its closing. */
  const pending = new Map<FrontendListener, Promise<void>>();

  function open(frontend: Frontend): void {
    const listener = frontend.transport === "Tcp" ? tcpListener(desk, frontend) : udpListener(desk, frontend);
    listeners.set(frontend.key, listener);
    const opening = listener.open().then(
      () => desk.book.note({ event: "listening", frontend: frontend.key, to: `${LOOPBACK}:${listener.port}` }),
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
    desk.book.note({ event: "gone", frontend: key });
    if (!listeners.has(key)) desk.book.forget(key);
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
