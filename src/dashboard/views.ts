/** What the API answers, as far as its types are not the core's. */
import type { Quota } from "../core/view/balancers.ts";
import type { ServiceCounts } from "../core/view/service-list.ts";

export interface Overview {
  readonly version: string;
  readonly cluster: string;
  readonly now: string;
  readonly revision: number;
  readonly leader: { readonly leads: boolean; readonly identity: string; readonly holder: string };
  readonly isReady: boolean;
  readonly unready?: string;
  readonly notices?: readonly string[];
  readonly services?: ServiceCounts;
  readonly nodes?: { readonly total: number; readonly draining: number };
  readonly throttle?: readonly Throttle[];
  readonly quota?: Quota & { readonly in: string };
  readonly writes?: number;
}

export interface Throttle {
  readonly calls: string;
  readonly tokens: number;
  readonly size: number;
  readonly waiting: number;
  readonly closedUntil?: string;
}

/** As in `3 min`; a time that is not known is empty. */
export function ago(time: string | undefined, nowMs: number): string {
  if (time === undefined) return "";
  const seconds = Math.max(0, Math.round(Math.abs(nowMs - Date.parse(time)) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}

export function duration(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}
