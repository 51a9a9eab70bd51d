/** The entry point of the controller's image: `azlb controller` alone, without the sandbox and the commands for people. */
import { registerController } from "../cli/controller.ts";
import { baseProgram } from "./base-program.ts";
import { runProgram } from "./run-program.ts";

const azlb = baseProgram("Azure load balancers for Kubernetes Services: the controller.");
registerController(azlb);
await runProgram(azlb);
