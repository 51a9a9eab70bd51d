/**
 * The data plane: forwards real connections on loopback according to the emulated load balancers. It watches the store;
 * a change takes effect when its operation succeeds.
 *
 *   store → applied state → rules ┬→ probes → health ┐
 *                                 └→ listeners ← admission: eligible members, hash, security groups, member table
 */
import { JournalWriteError } from "../../shared/journal.ts";
import { keyOf } from "../model/ids.ts";
import type { AzureStore } from "../store/azure-store.ts";
import { admitFlow } from "./admit-flow.ts";
import { appliedState, applySucceeded } from "./applied-state.ts";
import type { Clock, Timer } from "./clock.ts";
import { eligibleMembers, membersCutOff } from "./eligible-members.ts";
import { createFlowTable, memberNames, type FlowTable } from "./flow-table.ts";
import { frontendsOf, type Frontend } from "./forwarding.ts";
import { createFlowAcceptor } from "./flow-acceptor.ts";
import { listenerSet } from "./listener-set.ts";
import { memberProbes } from "./member-probes.ts";
import { namedPorts, patchedTable, targetOf, type MemberTable, type MemberTablePatch } from "./member-table.ts";
import { flowAccess } from "./member-access.ts";
import { logMembershipChanges } from "./membership.ts";
import type { Health } from "./probe-state.ts";
import { readForwarding, type Forwarding } from "./read-forwarding.ts";
import { renderFrontend, type FrontendView } from "./render.ts";
import { DEFAULT_SETTINGS, patchedSettings, type DataPlaneSettings } from "./settings.ts";

export interface DataPlane {
  readonly flowTable: FlowTable;
  readonly settings: DataPlaneSettings;
  readonly members: MemberTable;
  /** Changes the settings that the patch names; throws `BadInput`. */
  patch(patch: unknown): void;
  mapMembers(patch: MemberTablePatch): void;
  /** These addresses stop answering, as their machines do; established connections stay only with a frozen machine. */
  stop(addresses: readonly string[], how: "frozen" | "gone"): void;
  /** They answer again, if something listens. So do those that `mapMembers` names. */
  resume(addresses: readonly string[]): void;
  /** The health of an address according to a rule's probe. */
  readonly probed: (ruleId: string, ip: string) => Health;
  /** The selected frontends, after all pending listeners have opened. */
  frontends(isWanted: (frontend: Frontend) => boolean): Promise<readonly FrontendView[]>;
  close(): Promise<void>;
}

export interface DataPlaneOptions {
  readonly store: AzureStore;
  readonly clock: Clock;
  readonly log: (line: string) => void;
}

export function openDataPlane({ store, clock, log }: DataPlaneOptions): DataPlane {
  const flowTable = createFlowTable(() => clock.nowMs());
  let settings = DEFAULT_SETTINGS;
  let table: MemberTable = {};
  /** By address. */
  const stopped = new Map<string, "frozen" | "gone">();
  let forwarding: Forwarding = { rules: [], members: [] };
  store.settle();
  const seen = store.watch((changes) => {
    if (applySucceeded(applied, seen, changes)) refresh();
    settling.arm();
  });
  const applied = appliedState(seen);
  const settling = settleInTime({ store, clock, log });
  const probes = memberProbes({
    clock,
    applied,
    table: () => table,
    isStopped: ({ ip }) => stopped.has(ip),
    timeFactor: () => settings.probeIntervalFactor,
    onChange(probe, member, from, to) {
      flowTable.note({ event: "probe", about: probe.id, ...memberNames(member), from, to });
      listeners.reconsider((rule) => rule.probe?.id === probe.id);
    },
  });
  const acceptor = createFlowAcceptor({
    clock,
    flowTable,
    settings: () => settings,
    policy: {
      admit: (frontend, flow) =>
        admitFlow(frontend, flow, {
          healthOf: probes.healthBy(frontend.rule.probe),
          access: (member, translated) => flowAccess(applied, member, translated, frontend),
          targetOf: (member, port) => targetOf(table, member, port, frontend.transport),
          isStopped: ({ ip }) => stopped.has(ip),
        }),
      eligible: ({ rule }) => eligibleMembers(rule, probes.healthBy(rule.probe)),
      cutOff: ({ rule }) => {
        const unprobed = membersCutOff(rule, probes.healthBy(rule.probe));
        const gone = [...stopped].filter((entry) => entry[1] === "gone");
        return new Map([
          ...unprobed.map(({ ip }) => [ip, "allProbesDown"] as const),
          ...gone.map(([ip]) => [ip, "machineGone"] as const),
        ]);
      },
    },
  });
  const listeners = listenerSet(acceptor, log);

  /** Re-reads the forwarding rules after a change of the applied state or of the member table. */
  function refresh(): void {
    const next = readForwarding(applied);
    logMembershipChanges(flowTable, forwarding.members, next.members);
    forwarding = next;
    probes.watch(next.rules);
    listeners.serve(frontendsOf(next.rules, namedPorts(table)));
  }

  refresh();
  settling.arm();
  return {
    flowTable,
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
      for (const name of Object.keys(patch)) stopped.delete(name);
      refresh();
    },
    stop(addresses, how) {
      for (const address of addresses) stopped.set(address, how);
      listeners.reconsider(() => true);
    },
    resume(addresses) {
      for (const address of addresses) stopped.delete(address);
    },
    probed(ruleId, ip) {
      const rule = forwarding.rules.find(({ id }) => keyOf(id) === keyOf(ruleId));
      const member = rule?.members.find((one) => one.ip === ip);
      return member === undefined ? "unknown" : probes.healthBy(rule?.probe)(member);
    },
    async frontends(isWanted) {
      await listeners.opened();
      const wanted = listeners.list().filter(({ frontend }) => isWanted(frontend));
      return wanted.map((listener) => {
        const { key, rule, backendPort, transport } = listener.frontend;
        return renderFrontend(listener, flowTable.countsOf(key), {
          healthOf: probes.healthBy(rule.probe),
          targetOf: (member) => targetOf(table, member, backendPort, transport),
        });
      });
    },
    async close() {
      settling.close();
      probes.close();
      await listeners.close();
    },
  };
}

const RETRY_AFTER_MS = 1_000;

/** Completes operations when they are due, without waiting for a client to poll them. */
function settleInTime({ store, clock, log }: DataPlaneOptions): { arm(): void; close(): void } {
  let timer: Timer | undefined;
  const arm = (): void => {
    timer?.cancel();
    const atMs = store.nextSettleAtMs;
    timer = atMs === undefined ? undefined : clock.setTimer(Math.max(1, atMs - clock.nowMs()), due);
  };
  const due = (): void => {
    try {
      store.settle();
      arm();
    } catch (error) {
      if (!(error instanceof JournalWriteError)) throw error;
      log(`${error.message}; the operation ends later`);
      timer = clock.setTimer(RETRY_AFTER_MS, due);
    }
  };
  return { arm, close: () => timer?.cancel() };
}
