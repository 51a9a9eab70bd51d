/** Where one Service stands, for a person who wonders why it is pending. */
import { keyOf } from "../core/kubernetes.ts";
import { explain } from "../core/service/explain.ts";
import { EVENTS, type KubeObject } from "../kube/resources.ts";
import type { ClusterView } from "./cluster-view.ts";
import { NoSuchService } from "./no-such-service.ts";

interface Event extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly lastTimestamp?: string | null;
}

const MOST_EVENTS = 5;

export async function explainService(view: ClusterView, key: string): Promise<string> {
  const service = view.services.find((one) => keyOf(one) === key);
  if (service === undefined) throw new NoSuchService(key, view.find(key));
  const { namespace, name, uid } = service.metadata;
  const fieldSelector = `involvedObject.kind=Service,involvedObject.name=${name},involvedObject.uid=${uid}`;
  const [observed, events] = await Promise.all([
    view.observe(service),
    view.client.list<Event>(EVENTS, { namespace, fieldSelector }),
  ]);
  return `${explain(observed).join("\n")}\n${eventLines(events.items).join("\n")}\n`;
}

function eventLines(events: readonly Event[]): string[] {
  const last = events
    .filter((event) => event.type === "Warning")
    .sort((one, other) => (one.lastTimestamp ?? "").localeCompare(other.lastTimestamp ?? ""))
    .slice(-MOST_EVENTS);
  if (last.length === 0) return ["warnings    none"];
  return ["warnings", ...last.map(({ reason, message, count }) => `  ${reason} (x${count ?? 1}): ${message}`)];
}
