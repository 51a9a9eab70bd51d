/**
 * Maps ports of pool members to loopback ports. The emulator cannot bind the members' addresses, so a test (or a seed)
 * says where the process behind a member listens.
 *
 *   { "10.240.0.4": { "30080": 41234, "53/udp": 41235, "*": 41236 }, "vmss000001": { "*": 41237 } }
 *
 * A member is named by its address, its machine, or its name in the pool; its port by number and transport, by number,
 * or by `*` for all others.
 */
import { BadInput, describe, fieldsOf } from "../../shared/input.ts";
import type { Member, Transport } from "./forwarding.ts";

export type MemberTable = Readonly<Record<string, Readonly<Record<string, number>>>>;
/** `null` removes an entry. */
export type MemberTablePatch = Readonly<Record<string, Readonly<Record<string, number | null>> | null>>;

const PORT = /^(\*|\d{1,5}(\/(tcp|udp))?)$/;

export function parseMemberTable(value: unknown, where: string): MemberTablePatch {
  const entries = Object.entries(fieldsOf(value, where)).map(([member, ports]) => {
    const at = `${where}[${JSON.stringify(member)}]`;
    return [member, ports === null ? null : parsePorts(ports, at)] as const;
  });
  return Object.fromEntries(entries);
}

function parsePorts(value: unknown, where: string): Record<string, number | null> {
  const ports: Record<string, number | null> = {};
  for (const [port, target] of Object.entries(fieldsOf(value, where))) {
    if (!PORT.test(port)) {
      throw new BadInput(
        `${where}: a port is a number such as 80, 80/tcp or 80/udp, or *, not ${JSON.stringify(port)}`,
      );
    }
    const isPort = typeof target === "number" && Number.isInteger(target) && target > 0 && target < 65_536;
    if (!isPort && target !== null) {
      throw new BadInput(
        `${where}[${JSON.stringify(port)}] must be a port of 127.0.0.1 or null, not ${describe(target)}`,
      );
    }
    ports[port] = isPort ? target : null;
  }
  return ports;
}

/** The table after a patch; entries that the patch does not name are kept. */
export function patchedTable(table: MemberTable, patch: MemberTablePatch): MemberTable {
  const next: Record<string, Record<string, number>> = {};
  for (const member of new Set([...Object.keys(table), ...Object.keys(patch)])) {
    const change = patch[member];
    if (change === null) continue;
    const merged = { ...table[member], ...change };
    const ports = Object.entries(merged).filter((entry): entry is [string, number] => entry[1] !== null);
    if (ports.length > 0) next[member] = Object.fromEntries(ports);
  }
  return next;
}

/** Whether the table has an entry for a member. */
export function isNamed(table: MemberTable, member: Member): boolean {
  return namesOf(member).some((name) => table[name] !== undefined);
}

function namesOf({ ip, node, name }: Member): readonly string[] {
  return [ip, node ?? "", name];
}

/** The loopback port for a member's port; `undefined` where the table has none. */
export function targetOf(table: MemberTable, member: Member, port: number, transport: Transport): number | undefined {
  for (const known of namesOf(member)) {
    const ports = table[known];
    const target = ports?.[`${port}/${transport.toLowerCase()}`] ?? ports?.[String(port)] ?? ports?.["*"];
    if (target !== undefined) return target;
  }
  return undefined;
}

/** Every port that the table names by number. */
export function namedPorts(table: MemberTable): number[] {
  const ports = Object.values(table).flatMap((entry) => Object.keys(entry));
  return [...new Set(ports.filter((port) => port !== "*").map((port) => Number(port.split("/")[0])))];
}
