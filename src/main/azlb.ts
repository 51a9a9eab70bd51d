/** The entry point of the `azlb` command in the repository (`bin/azlb`). */
import { repositoryProgram } from "./repository-program.ts";
import { runProgram } from "./run-program.ts";

await runProgram(repositoryProgram());
