/** The entry point of the agent's image: `azlb agent` alone. One runs on every node, so it loads nothing else. */
import { registerAgent } from "../cli/agent.ts";
import { baseProgram } from "./base-program.ts";
import { runProgram } from "./run-program.ts";

const azlb = baseProgram("Azure load balancers for Kubernetes Services: the agent of a node.");
registerAgent(azlb);
await runProgram(azlb);
