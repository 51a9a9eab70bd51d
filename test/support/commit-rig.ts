/** A group commit on an Azure in memory, in virtual time, merging fragments into a shared list. */
import type { ArmClientOptions } from "../../src/azure/arm/arm-client.ts";
import type { ArmBody, AttemptReport, Committed } from "../../src/azure/group-commit/commit-types.ts";
import { GroupCommit, type GroupCommitOptions } from "../../src/azure/group-commit/group-commit.ts";
import type { ArmRequest } from "../../src/azure/arm/transport.ts";
import { armRig } from "./arm-rig.ts";
import type { MemoryArmOptions } from "./memory-arm.ts";
import { findList, LIST, type ListFragment, type SharedList } from "./shared-list.ts";
import { seededRandom } from "./virtual-clock.ts";

export const GROUP = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network";
export const LB = `${GROUP}/loadBalancers/lb`;
export const PIP = `${GROUP}/publicIPAddresses/pip`;

export function commitRig(
  armOptions: Omit<MemoryArmOptions, "clock"> = {},
  options: Partial<GroupCommitOptions> = {},
  clientOptions: Partial<ArmClientOptions> = {},
) {
  const { clock, arm, client, run } = armRig({ replyMs: 100, ...armOptions }, clientOptions);
  const attempts: AttemptReport[] = [];
  const known = new Map<string, ArmBody | null>();
  const commit = new GroupCommit({
    client,
    clock,
    random: seededRandom(2),
    mayWrite: () => true,
    lastSeen: (id) => known.get(id.toLowerCase()),
    onSeen: (id, body) => {
      if (body === undefined) known.delete(id.toLowerCase());
      else known.set(id.toLowerCase(), body);
    },
    onAttempt: (report) => attempts.push(report),
    ...options,
  });
  const submit = (
    fragment: ListFragment,
    id = LB,
    priority: "create" | "drain" = "create",
  ): Promise<Committed<SharedList>> => commit.submit({ id, kind: LIST, dedupKey: fragment.owner, fragment, priority });
  /** `name value` of all parts, sorted. */
  const parts = (id = LB): string[] => {
    const list = findList(arm, id);
    return (list?.properties.parts ?? []).map(({ name, value }) => `${name} ${value}`).sort();
  };
  const foreign = (value: number): void => {
    const list = findList(arm, LB);
    const theirs = { name: "foreign", owner: "theirs", value };
    const kept = (list?.properties.parts ?? []).filter(({ name }) => name !== "foreign");
    arm.write(LB, { ...list, properties: { provisioningState: "Succeeded", parts: [...kept, theirs] } });
  };
  return { clock, arm, client, commit, attempts, known, submit, run, parts, foreign };
}

export const kinds = (outcomes: readonly { kind: string }[]): string[] => outcomes.map(({ kind }) => kind);
export const isPut = ({ method }: ArmRequest): boolean => method === "PUT";
export const owners = (count: number): string[] => Array.from({ length: count }, (_, at) => `o${at}`);
