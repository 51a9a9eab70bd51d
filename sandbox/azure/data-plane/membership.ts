/** Logs membership changes of all pools: members that joined or left, and changed admin states. */
import { memberNames, type FlowTable } from "./flow-table.ts";
import type { Member } from "./forwarding.ts";

export function logMembershipChanges(flowTable: FlowTable, before: readonly Member[], after: readonly Member[]): void {
  const known = byPoolAndAddress(before);
  const present = byPoolAndAddress(after);
  for (const [key, member] of known) {
    if (!present.has(key)) flowTable.note({ event: "left", about: member.pool, ...memberNames(member) });
  }
  for (const [key, member] of present) {
    const from = known.get(key)?.adminState;
    const common = { about: member.pool, ...memberNames(member) };
    if (from === undefined) flowTable.note({ event: "joined", ...common, to: member.adminState });
    else if (from !== member.adminState)
      flowTable.note({ event: "adminState", ...common, from, to: member.adminState });
  }
}

function byPoolAndAddress(members: readonly Member[]): Map<string, Member> {
  return new Map(members.map((member) => [`${member.pool}|${member.ip}`, member]));
}
