/** The incumbent's own program, where it is, on the embedded server: as the judge of azlb, and in the guide. */
import { programOf } from "../../suites/services/handover-incumbents.ts";
import { handoverSuite } from "../../suites/services/handover.ts";
import { incumbentProgramSuite, PROGRAM, WITHOUT_PROGRAM } from "../../suites/services/incumbent-program.ts";
import { openDualStackCluster } from "../../support/embedded-cluster.ts";

incumbentProgramSuite("the embedded server", openDualStackCluster);
handoverSuite(
  "the embedded server, from the incumbent's own program",
  openDualStackCluster,
  programOf(PROGRAM),
  WITHOUT_PROGRAM,
);
