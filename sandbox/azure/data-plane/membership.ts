/** Writes into the book how the members of all pools have changed: who came, who left, whose admin state is new. */
import { memberNames, type FlowTable } from "./flow-table.ts";
import type { Member } from "./forwarding.ts";

export function noteMembership(book: FlowTable, before: readonly Member[], after: readonly Member[]): void {
  const known = byPlace(before);
  const present = byPlace(after);
  for (const [key, member] of known) {
    if (!present.has(key)) book.note({ event: "left", about: member.pool, ...memberNames(member) });
  }
  for (const [key, member] of present) {
    const from = known.get(key)?.adminState;
    const said = { about: member.pool, ...memberNames(member) };
    if (from === undefined) book.note({ event: "joined", ...said, to: member.adminState });
    else if (from !== member.adminState) book.note({ event: "adminState", ...said, from, to: member.adminState });
  }
}

function byPlace(members: readonly Member[]): Map<string, Member> {
  return new Map(members.map((member) => [`${member.pool}|${member.ip}`, member]));
}
