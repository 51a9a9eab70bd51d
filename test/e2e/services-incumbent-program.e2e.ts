/** The incumbent's own program, where it is, on a real kube-apiserver: as the judge of azlb, and in the guide. */
import { programOf } from "../suites/services/handover-incumbents.ts";
import { handoverSuite } from "../suites/services/handover.ts";
import { incumbentProgramSuite, PROGRAM, WITHOUT_PROGRAM } from "../suites/services/incumbent-program.ts";
import { openDualStackRealCluster } from "../support/real-cluster.ts";
import { reusedClusters } from "../support/reused-clusters.ts";

const openCluster = reusedClusters(openDualStackRealCluster);

incumbentProgramSuite("kube-apiserver", openCluster);
handoverSuite("kube-apiserver, from the incumbent's own program", openCluster, programOf(PROGRAM), WITHOUT_PROGRAM);
