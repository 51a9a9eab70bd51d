/** The flags of the brake on blast radius, which the controller and the commands that show what it withholds share. */
import type { Command } from "commander";

import { type BrakeLimits, DEFAULT_BRAKE_LIMITS } from "../core/brake/brake-limits.ts";
import { parseShare } from "../core/brake/share-limit.ts";
import { parseFlagNumber } from "./flag-values.ts";
import { InputError } from "./input-error.ts";

export interface BrakeFlags {
  readonly brakeServices: string;
  readonly brakeShare: string;
}

const { services, members } = DEFAULT_BRAKE_LIMITS;
const MOST_SERVICES = 1_000_000;

export function withBrakeFlags(command: Command): Command {
  return command
    .option(
      "--brake-services <count>",
      "withhold writes that take an address or many pool members from more unchanged Services than that within 5 minutes",
      String(services),
    )
    .option(
      "--brake-share <percent>",
      "share of a pool's members that may go within 5 minutes before the brake withholds it; 100%: all",
      `${members.share * 100}%`,
    );
}

export function brakeLimits({ brakeServices, brakeShare }: BrakeFlags): BrakeLimits {
  const share = parseShare(brakeShare);
  if (share === undefined) throw new InputError(`--brake-share is "${brakeShare}"; write a share from 0% to 100%`);
  return {
    services: parseFlagNumber("--brake-services", brakeServices, 0, MOST_SERVICES),
    members: { ...members, share },
  };
}
