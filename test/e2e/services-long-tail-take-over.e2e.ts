/** Services that the incumbent has served with its rarer settings, on a real kube-apiserver. */
import { longTailTakeOverSuite } from "../suites/services/long-tail-take-over.ts";
import { openDualStackRealCluster } from "../support/real-cluster.ts";
import { reusedClusters } from "../support/reused-clusters.ts";

const openCluster = reusedClusters(openDualStackRealCluster);

longTailTakeOverSuite("kube-apiserver", openCluster);
