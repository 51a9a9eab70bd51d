/** Services that the incumbent has served with its rarer settings, on a real kube-apiserver. */
import { longTailTakeOverSuite } from "../suites/services/long-tail-take-over.ts";
import { openDualStackRealCluster } from "../support/real-cluster.ts";

longTailTakeOverSuite("kube-apiserver", openDualStackRealCluster);
