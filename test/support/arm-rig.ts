/** A client of an ARM in memory under a clock that waits to be told: what tests of `src/azure` start from. */
import { ArmClient, type ArmClientOptions } from "../../src/azure/arm/arm-client.ts";
import { MemoryArm, type MemoryArmOptions } from "./memory-arm.ts";
import { seededRandom, VirtualClock } from "./virtual-clock.ts";

export function armRig(armOptions: Omit<MemoryArmOptions, "clock"> = {}, options: Partial<ArmClientOptions> = {}) {
  const clock = new VirtualClock();
  const arm = new MemoryArm({ clock, ...armOptions });
  const client = new ArmClient({
    cloud: { resourceManager: MemoryArm.url, authority: "", audience: "", profile: "current" },
    transport: arm,
    tokens: { token: async () => "token", refused: () => {} },
    clock,
    random: seededRandom(1),
    userAgent: "test",
    ...options,
  });
  /** Lets time pass until the work is over. */
  const run = async <Result>(work: Promise<Result>): Promise<Result> => {
    let isOver = false;
    const over = (): void => void (isOver = true);
    work.then(over, over);
    await clock.advanceUntil(() => isOver);
    return work;
  };
  return { clock, arm, client, run };
}
