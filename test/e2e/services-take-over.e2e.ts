/** Services that the incumbent has served, on a real kube-apiserver. */
import { takeOverSuite } from "../suites/services/take-over.ts";
import { openDualStackRealCluster } from "../support/real-cluster.ts";

takeOverSuite("kube-apiserver", openDualStackRealCluster);
