/**
 * Registers the sub-commands of `azlb`. Each one is in `src/cli/` and loads what it needs when it runs, so that `--help` is
 * fast.
 */
import { Command } from "commander";

import { registerAzure } from "../cli/azure.ts";
import { registerBench } from "../cli/bench.ts";
import { registerDrain } from "../cli/drain.ts";
import { registerController } from "../cli/controller.ts";
import { registerKube } from "../cli/kube.ts";
import { registerDoctor } from "../cli/doctor.ts";
import { registerExplain } from "../cli/explain.ts";
import { registerPlan } from "../cli/plan.ts";
import { registerReleaseBrake } from "../cli/release-brake.ts";
import { registerSandbox } from "../cli/sandbox.ts";
import { registerSimulate } from "../cli/simulate.ts";
import { registerUninstall } from "../cli/uninstall.ts";
import { VERSION } from "./version.ts";

export function program(): Command {
  const azlb = new Command("azlb")
    .description("Azure load balancers for Kubernetes Services, and a sandbox to try them.")
    .version(VERSION)
    .showHelpAfterError("(run with --help for the options)")
    .enablePositionalOptions()
    .exitOverride();
  registerSandbox(azlb);
  registerController(azlb);
  registerDoctor(azlb);
  registerPlan(azlb);
  registerExplain(azlb);
  registerDrain(azlb);
  registerReleaseBrake(azlb);
  registerUninstall(azlb);
  registerAzure(azlb);
  registerKube(azlb);
  registerBench(azlb);
  registerSimulate(azlb);
  return azlb;
}
