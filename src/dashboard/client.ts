/** The page's way to the API: requests with the token, and the stream of changes. Addresses are relative, so that a proxy may be before them. */
import { useEffect, useState } from "preact/hooks";

const KEY = "azlb-token";

export class Denied extends Error {}

function tokenOf(): string {
  return sessionStorage.getItem(KEY) ?? "";
}

/** Kept for as long as the tab is open. */
export function signIn(token: string): void {
  sessionStorage.setItem(KEY, token.trim());
}

async function ask(path: string, signal?: AbortSignal, post?: unknown): Promise<Response> {
  const token = tokenOf();
  const response = await fetch(path, {
    ...(signal && { signal }),
    headers: {
      ...(token !== "" && { "x-azlb-token": token }),
      ...(post !== undefined && { "content-type": "application/json" }),
    },
    ...(post !== undefined && { method: "POST", body: JSON.stringify(post) }),
  });
  if (response.ok) return response;
  const { error = response.statusText } = (await response.json().catch(() => ({}))) as { error?: string };
  throw response.status === 401 || response.status === 403 ? new Denied(error) : new Error(error);
}

export async function post<Answer>(path: string, body: unknown): Promise<Answer> {
  return (await (await ask(path, undefined, body)).json()) as Answer;
}

export interface Loaded<View> {
  readonly view: View | undefined;
  readonly error: Error | undefined;
}

/** The view at a path, asked for again when `revision` changes; the one before stays until the next has come. */
export function useView<View>(path: string | undefined, revision: unknown): Loaded<View> {
  const [loaded, setLoaded] = useState<Loaded<View> & { path?: string }>({ view: undefined, error: undefined });
  useEffect(() => {
    if (path === undefined) return undefined;
    const ending = new AbortController();
    ask(path, ending.signal)
      .then(async (response) => setLoaded({ view: (await response.json()) as View, error: undefined, path }))
      .catch((error: unknown) => {
        if (!ending.signal.aborted) setLoaded((before) => ({ ...before, error: error as Error }));
      });
    return () => ending.abort();
  }, [path, revision]);
  return path?.split("?")[0] === loaded.path?.split("?")[0] ? loaded : { view: undefined, error: loaded.error };
}

const AGAIN_MS = 1_000;

/** The newest event of the stream; opened again whenever it ends. `session`: another one begins it anew. */
export function useStream<View>(path: string, session: number): Loaded<View> {
  const [loaded, setLoaded] = useState<Loaded<View>>({ view: undefined, error: undefined });
  useEffect(() => {
    const ending = new AbortController();
    void follow<View>(path, ending.signal, setLoaded);
    return () => ending.abort();
  }, [path, session]);
  return loaded;
}

async function follow<View>(path: string, signal: AbortSignal, tell: (loaded: Loaded<View>) => void): Promise<void> {
  let view: View | undefined;
  while (!signal.aborted) {
    try {
      const { body } = await ask(path, signal);
      for await (const data of eventsOf(body)) {
        view = JSON.parse(data) as View;
        tell({ view, error: undefined });
      }
    } catch (error) {
      if (signal.aborted) return;
      tell({ view, error: error as Error });
      if (error instanceof Denied) return;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

async function* eventsOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const data = /^event: view\n(?:id: .*\n)?data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) yield data;
    }
  }
}
