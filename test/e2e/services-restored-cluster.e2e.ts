/** Services created anew with other UIDs, on a real kube-apiserver. */
import { restoredClusterSuite } from "../suites/services/restored-cluster.ts";
import { openDualStackRealCluster } from "../support/real-cluster.ts";

restoredClusterSuite("kube-apiserver", openDualStackRealCluster);
