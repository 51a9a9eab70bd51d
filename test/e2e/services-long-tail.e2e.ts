/** What the incumbent makes of its rarer settings, and several load balancers beyond that, on a real kube-apiserver. */
import { longTailSuite } from "../suites/services/long-tail.ts";
import { severalLoadBalancersSuite } from "../suites/services/several-load-balancers.ts";
import { openDualStackRealCluster } from "../support/real-cluster.ts";
import { reusedClusters } from "../support/reused-clusters.ts";

const openCluster = reusedClusters(openDualStackRealCluster);

longTailSuite("kube-apiserver", openCluster);
severalLoadBalancersSuite("kube-apiserver", openDualStackRealCluster);
