/** Services that the incumbent has served, on a real kube-apiserver. */
import { takeOverSuite } from "../suites/services/take-over.ts";
import { openDualStackRealCluster } from "../support/real-cluster.ts";
import { reusedClusters } from "../support/reused-clusters.ts";

const openCluster = reusedClusters(openDualStackRealCluster);

takeOverSuite("kube-apiserver", openCluster);
