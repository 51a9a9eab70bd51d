/**
 * The data plane: real connections on loopback, forwarded as the load balancers of the emulated Azure say. It follows
 * the store: what an operation changes takes effect when the operation succeeds.
 *
 *   store → applied state → rules ┬→ probes → health ┐
 *                                 └→ listeners ← admission: eligible members, hash, security groups, member table
 */
import type { State } from "../model/index.ts";
import type { AzureStore } from "../store/azure-store.ts";
import { admitFlow } from "./admit-flow.ts";
import { applySucceeded, appliedState } from "./applied-state.ts";
import type { Clock, Timer } from "./clock.ts";
import { eligibleMembers, membersCutOff } from "./eligible-members.ts";
import { flowBook, memberNames, type FlowBook } from "./flow-book.ts";
import { frontendsOf, type Member, type Probe } from "./forwarding.ts";
import { frontDesk } from "./front-desk.ts";
import { listenerSet } from "./listener-set.ts";
import { namedPorts, patchedTable, targetOf, type MemberTable, type MemberTablePatch } from "./member-table.ts";
import { flowVerdict, probeVerdict } from "./member-verdict.ts";
import { noteMembership } from "./membership.ts";
import { probeMember } from "./probe-attempt.ts";
import type { Health } from "./probe-state.ts";
import { prober, type ProbeTask } from "./prober.ts";
import { readForwarding, type Forwarding } from "./read-forwarding.ts";
import { renderFrontend, type FrontendView } from "./render.ts";
import { DEFAULT_SETTINGS, patchedSettings, type DataPlaneSettings } from "./settings.ts";

export interface DataPlane {
  readonly book: FlowBook;
  readonly settings: DataPlaneSettings;
  readonly members: MemberTable;
  /** Changes the settings that the patch names; throws `BadInput`. */
  patch(patch: unknown): void;
  mapMembers(patch: MemberTablePatch): void;
  /** Every frontend, once all that are on their way are open. */
  frontends(): Promise<readonly FrontendView[]>;
  close(): Promise<void>;
}

export interface DataPlaneOptions {
  readonly store: AzureStore;
  readonly clock: Clock;
  readonly log: (line: string) => void;
}

interface Probed {
  readonly probe: Probe;
  readonly member: Member;
}

export function openDataPlane({ store, clock, log }: DataPlaneOptions): DataPlane {
  const book = flowBook(() => clock.nowMs());
  let settings = DEFAULT_SETTINGS;
  let table: MemberTable = {};
  let forwarding: Forwarding = { rules: [], members: [] };
  let probed = new Map<string, Probed>();
  const probes = prober({ clock, timeFactor: () => settings.probeIntervalFactor, onChange: healthChanged });
  store.settle();
  const seen = store.watch((changes) => {
    if (applySucceeded(applied, seen, changes)) refresh();
    settling.arm();
  });
  const applied = appliedState(seen);
  const settling = settleInTime(store, clock);
  const desk = frontDesk({
    clock,
    book,
    settings: () => settings,
    oracle: {
      admit: (frontend, flow) =>
        admitFlow(frontend, flow, {
          healthOf: healthIn(frontend.rule.probe),
          verdict: (member, translated) => flowVerdict(applied, member, translated, frontend),
          targetOf: (member, port) => targetOf(table, member, port, frontend.transport),
        }),
      eligible: ({ rule }) => eligibleMembers(rule, healthIn(rule.probe)),
      cutOff: ({ rule }) => membersCutOff(rule, healthIn(rule.probe)),
    },
  });
  const listeners = listenerSet(desk, log);

  function healthIn(probe: Probe | undefined): (member: Member) => Health {
    return (member) =>
      probe === undefined ? "unknown" : probes.healthOf(probeKey(probe, member, probeTarget(probe, member)));
  }

  function probeTarget(probe: Probe, member: Member): number | undefined {
    return targetOf(table, member, probe.port, "Tcp");
  }

  function healthChanged(key: string, from: Health, to: Health): void {
    const about = probed.get(key);
    if (about === undefined) return;
    book.note({ event: "probe", about: about.probe.id, ...memberNames(about.member), from, to });
    listeners.reconsider((rule) => rule.probe?.id === about.probe.id);
  }

  /** Azure, or the table of members, is not what it was. */
  function refresh(): void {
    const next = readForwarding(applied);
    noteMembership(book, forwarding.members, next.members);
    forwarding = next;
    watchProbes(next);
    listeners.serve(frontendsOf(next.rules, namedPorts(table)));
  }

  function watchProbes({ rules }: Forwarding): void {
    const tasks = new Map<string, ProbeTask>();
    probed = new Map();
    for (const { probe, members } of rules) {
      if (probe === undefined) continue;
      for (const member of members) {
        const targetPort = probeTarget(probe, member);
        const key = probeKey(probe, member, targetPort);
        const { intervalMs, threshold } = probe;
        probed.set(key, { probe, member });
        tasks.set(key, { key, intervalMs, threshold, attempt: probeOf(applied, { probe, member }, targetPort) });
      }
    }
    probes.watch(tasks);
  }

  refresh();
  settling.arm();
  return {
    book,
    get settings() {
      return settings;
    },
    get members() {
      return table;
    },
    patch(patch) {
      settings = patchedSettings(settings, patch);
      probes.retime();
      listeners.reconsider(() => true);
    },
    mapMembers(patch) {
      table = patchedTable(table, patch);
      refresh();
    },
    async frontends() {
      await listeners.opened();
      return listeners.list().map((listener) =>
        renderFrontend(listener, book.countsOf(listener.frontend.key), {
          healthOf: healthIn(listener.frontend.rule.probe),
          targetOf: (member) => targetOf(table, member, listener.frontend.backendPort, listener.frontend.transport),
        }),
      );
    },
    async close() {
      settling.close();
      probes.close();
      await listeners.close();
    },
  };
}

function probeKey({ id }: Probe, { ip }: Member, targetPort: number | undefined): string {
  return `${id}|${ip}|${targetPort ?? ""}`;
}

/** A member that nobody can reach, or that its security groups close to probes, fails them. */
function probeOf(applied: State, { probe, member }: Probed, targetPort: number | undefined): ProbeTask["attempt"] {
  return (signal) => {
    if (targetPort === undefined || !probeVerdict(applied, member, probe).allowed) return Promise.resolve(false);
    return probeMember({ probe, ip: member.ip, targetPort }, signal);
  };
}

/** Ends operations when they are due, though nobody may be asking about them. */
function settleInTime(store: AzureStore, clock: Clock): { arm(): void; close(): void } {
  let timer: Timer | undefined;
  const arm = (): void => {
    timer?.cancel();
    const atMs = store.nextSettleAtMs;
    timer = atMs === undefined ? undefined : clock.setTimer(Math.max(1, atMs - clock.nowMs()), due);
  };
  const due = (): void => {
    store.settle();
    arm();
  };
  return { arm, close: () => timer?.cancel() };
}
