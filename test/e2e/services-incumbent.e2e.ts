/** What the incumbent would make of a Service, on a real kube-apiserver. */
import { incumbentStatesSuite } from "../suites/services/incumbent-states.ts";
import { openDualStackRealCluster } from "../support/real-cluster.ts";
import { reusedClusters } from "../support/reused-clusters.ts";

const openCluster = reusedClusters(openDualStackRealCluster);

incumbentStatesSuite("kube-apiserver", openCluster);
