/**
 * A thread that debugs the main one: it sets a breakpoint in each function that it is given, and answers with the order in
 * which they were first run, each with the files of its callers. What is counted is `count-returns.ts`.
 */
import { Session, type Debugger } from "node:inspector/promises";
import { parentPort } from "node:worker_threads";
import type { FirstRun } from "./count-returns.ts";
import type { RanFunction } from "./main.ts";

type Stop = RanFunction & { readonly line: number; readonly column: number };

/** Far beyond what any walk has. */
const MOST_WAITING = 200;

const session = new Session();
session.connectToMainThread();
const urls = new Map<string, string>();
const stops = new Map<string, Stop>();
const runs: FirstRun[] = [];

session.on("Debugger.scriptParsed", ({ params: { scriptId, url } }) => urls.set(scriptId, url));
session.on("Debugger.paused", ({ params }) => void noteStop(params));

async function noteStop(pause: Debugger.PausedEventDataType): Promise<void> {
  const { callFrames, hitBreakpoints = [] } = pause;
  const callers = callFrames.slice(1).map(({ location }) => urls.get(location.scriptId) ?? "");
  const waiting: string[] = [];
  for (let trace = pause.asyncStackTrace; trace !== undefined; trace = trace.parent)
    waiting.push(...trace.callFrames.map(({ url }) => url));
  for (const id of hitBreakpoints) {
    const stop = stops.get(id);
    if (stop === undefined || isAround(stop, callFrames[0]?.functionLocation)) continue;
    stops.delete(id);
    runs.push({ url: stop.url, name: stop.name, line: stop.line, callers, waiting });
    await session.post("Debugger.removeBreakpoint", { breakpointId: id });
  }
  await session.post("Debugger.resume");
}

/** Whether it stopped where the function is made, in the one around it. */
function isAround({ line, column }: Stop, at: Debugger.Location | undefined): boolean {
  if (at === undefined) return false;
  return at.lineNumber < line - 1 || (at.lineNumber === line - 1 && (at.columnNumber ?? 0) < column);
}

async function stopAt(functions: readonly RanFunction[]): Promise<void> {
  await session.post("Debugger.enable");
  await session.post("Debugger.setAsyncCallStackDepth", { maxDepth: MOST_WAITING });
  const scripts = new Map([...urls].map(([id, url]) => [url, id]));
  const sources = new Map<string, string>();
  /** Inner functions first: what is left of an outer one is its own. */
  const taken = new Set<string>();
  for (const ran of functions.toSorted((one, other) => other.startOffset - one.startOffset)) {
    const scriptId = scripts.get(ran.url);
    if (scriptId === undefined) continue;
    let source = sources.get(ran.url);
    if (source === undefined) {
      source = (await session.post("Debugger.getScriptSource", { scriptId })).scriptSource;
      sources.set(ran.url, source);
    }
    const start = { scriptId, ...positionOf(source, ran.startOffset) };
    const end = { scriptId, ...positionOf(source, ran.endOffset) };
    const { locations } = await session.post("Debugger.getPossibleBreakpoints", { start, end });
    const location = locations.find(
      ({ lineNumber, columnNumber = 0 }) => !taken.has(`${ran.url} ${lineNumber} ${columnNumber}`),
    );
    if (location === undefined) continue;
    taken.add(`${ran.url} ${location.lineNumber} ${location.columnNumber ?? 0}`);
    const { breakpointId } = await session.post("Debugger.setBreakpoint", { location });
    stops.set(breakpointId, { ...ran, line: start.lineNumber + 1, column: start.columnNumber });
  }
}

function positionOf(source: string, offset: number): { lineNumber: number; columnNumber: number } {
  const before = source.slice(0, offset);
  const lineNumber = before.split("\n").length - 1;
  return { lineNumber, columnNumber: offset - (before.lastIndexOf("\n") + 1) };
}

parentPort?.on("message", (message: "end" | { readonly stopAt: readonly RanFunction[] }) => {
  if (message === "end") parentPort?.postMessage(runs, []);
  else void stopAt(message.stopAt).then(() => parentPort?.postMessage("ready", []));
});
