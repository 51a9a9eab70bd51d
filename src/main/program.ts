/**
 * Registers the sub-commands of `azlb` as it is shipped. Each one is in `src/cli/` and loads what it needs when it runs, so
 * that `--help` is fast. `repository-program.ts` adds those that need the repository.
 */
import type { Command } from "commander";

import { registerAgent } from "../cli/agent.ts";
import { registerAzure } from "../cli/azure.ts";
import { registerDrain } from "../cli/drain.ts";
import { registerController } from "../cli/controller.ts";
import { registerKube } from "../cli/kube.ts";
import { registerDoctor } from "../cli/doctor.ts";
import { registerExplain } from "../cli/explain.ts";
import { registerGet } from "../cli/get.ts";
import { registerPlan } from "../cli/plan.ts";
import { registerReach } from "../cli/reach.ts";
import { registerReleaseBrake } from "../cli/release-brake.ts";
import { registerSandbox } from "../cli/sandbox.ts";
import { registerShadow } from "../cli/shadow.ts";
import { registerUninstall } from "../cli/uninstall.ts";
import { registerVerifyAzure } from "../cli/verify-azure.ts";
import { registerVersion } from "../cli/version.ts";
import { registerCompletion } from "../cli/completion.ts";
import { baseProgram } from "./base-program.ts";

export function program(): Command {
  const azlb = baseProgram("Azure load balancers for Kubernetes Services, and a sandbox to try them.");
  registerSandbox(azlb);
  registerController(azlb);
  registerAgent(azlb);
  registerDoctor(azlb);
  registerPlan(azlb);
  registerExplain(azlb);
  registerReach(azlb);
  registerGet(azlb);
  registerShadow(azlb);
  registerDrain(azlb);
  registerReleaseBrake(azlb);
  registerUninstall(azlb);
  registerAzure(azlb);
  registerKube(azlb);
  registerVerifyAzure(azlb);
  registerVersion(azlb);
  registerCompletion(azlb);
  return azlb;
}
