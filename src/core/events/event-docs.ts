/** `docs/events.md`, made of the table that every event takes its reason from. */
import { EVENT_GROUPS, type EventRow } from "./event-reasons.ts";

const HEADER = `# Events

Made by \`npm run docs\` from the table that the controller takes the reasons of its events from; do not edit.

\`kubectl describe\` shows the events of an object. A Warning names what is wrong and, where somebody can put it right,
the key, the value and the fix. The same thing is told once until something changes. Events of LBCF's objects come only
where its definitions are installed ([lbcf.md](lbcf.md)), those of admin state only where Azure has it
([admin-state.md](admin-state.md)).
`;

export function renderEventDocs(): string {
  const groups = Object.entries<Readonly<Record<string, EventRow>>>(EVENT_GROUPS);
  return [HEADER, ...groups.map(([title, rows]) => renderGroup(title, rows))].join("\n");
}

function renderGroup(title: string, rows: Readonly<Record<string, EventRow>>): string {
  const lines = Object.entries(rows).map(
    ([reason, { type, on, tells }]) => `| \`${reason}\` | ${type} | ${on.join(", ")} | ${tells} |`,
  );
  return [`## ${title}`, "", "| Reason | Type | On | Tells |", "|---|---|---|---|", ...lines, ""].join("\n");
}
