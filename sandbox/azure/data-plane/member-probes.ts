/**
 * Probes the members of all rules that the member table maps, and reports their health. A member that the table does not
 * map is unreachable and counts as down.
 */
import type { State } from "../model/index.ts";
import type { Clock } from "./clock.ts";
import type { HealthOf } from "./eligible-members.ts";
import type { ForwardingRule, Member, Probe } from "./forwarding.ts";
import { isNamed, targetOf, type MemberTable } from "./member-table.ts";
import { probeAccess } from "./member-access.ts";
import { probeMember } from "./probe-attempt.ts";
import type { Health } from "./probe-state.ts";
import { prober, type ProbeTask } from "./prober.ts";

export interface MemberProbes {
  /** Replaces the probed members after a change of the rules or of the member table. */
  watch(rules: readonly ForwardingRule[]): void;
  /** Health according to a probe; `unknown` without one. */
  healthBy(probe: Probe | undefined): HealthOf;
  retime(): void;
  close(): void;
}

export interface MemberProbesOptions {
  readonly clock: Clock;
  readonly applied: State;
  readonly table: () => MemberTable;
  /** Its machine does not answer. */
  readonly isStopped: (member: Member) => boolean;
  readonly timeFactor: () => number;
  readonly onChange: (probe: Probe, member: Member, from: Health, to: Health) => void;
}

interface MemberTask extends ProbeTask {
  readonly probe: Probe;
  readonly member: Member;
}

export function memberProbes(options: MemberProbesOptions): MemberProbes {
  const { clock, applied, table, isStopped, timeFactor, onChange } = options;
  let tasks = new Map<string, MemberTask>();
  const probes = prober({
    clock,
    timeFactor,
    onChange: (key, from, to) => {
      const task = tasks.get(key);
      if (task !== undefined) onChange(task.probe, task.member, from, to);
    },
  });

  function taskOf(probe: Probe, member: Member): MemberTask | undefined {
    const targetPort = targetOf(table(), member, probe.port, "Tcp");
    if (targetPort === undefined) return undefined;
    const { intervalMs, threshold } = probe;
    const attempt = (signal: AbortSignal): Promise<boolean> =>
      probeAccess(applied, member, probe).allowed && !isStopped(member)
        ? probeMember({ probe, ip: member.ip, targetPort }, signal)
        : Promise.resolve(false);
    return { key: keyOf(probe, member, targetPort), intervalMs, threshold, attempt, probe, member };
  }

  return {
    watch(rules) {
      const reachable = reachableIn(table());
      const wanted = rules.flatMap(({ probe, members }) =>
        probe === undefined ? [] : reachable(members).flatMap((member) => taskOf(probe, member) ?? []),
      );
      tasks = new Map(wanted.map((task) => [task.key, task]));
      probes.watch(tasks);
    },
    healthBy: (probe) => (member) => {
      if (probe === undefined) return "unknown";
      const targetPort = targetOf(table(), member, probe.port, "Tcp");
      return targetPort === undefined ? "down" : probes.healthOf(keyOf(probe, member, targetPort));
    },
    retime: () => probes.retime(),
    close: () => probes.close(),
  };
}

/** Filters a pool's members to those in the table, once per pool: many rules share large pools of which few are mapped. */
function reachableIn(table: MemberTable): (members: readonly Member[]) => readonly Member[] {
  const known = new Map<readonly Member[], readonly Member[]>();
  return (members) => {
    const found = known.get(members) ?? members.filter((member) => isNamed(table, member));
    known.set(members, found);
    return found;
  };
}

/** Includes the port: a member that moves to another loopback port starts with unknown health. */
function keyOf({ id }: Probe, { ip }: Member, targetPort: number): string {
  return `${id}|${ip}|${targetPort}`;
}
