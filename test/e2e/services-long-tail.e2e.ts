/** What the incumbent makes of its rarer settings, on a real kube-apiserver. */
import { longTailSuite } from "../suites/services/long-tail.ts";
import { openDualStackRealCluster } from "../support/real-cluster.ts";

longTailSuite("kube-apiserver", openDualStackRealCluster);
