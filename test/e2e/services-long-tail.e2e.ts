/** What the incumbent makes of its rarer settings, and several load balancers beyond that, on a real kube-apiserver. */
import { longTailSuite } from "../suites/services/long-tail.ts";
import { severalLoadBalancersSuite } from "../suites/services/several-load-balancers.ts";
import { openDualStackRealCluster } from "../support/real-cluster.ts";

longTailSuite("kube-apiserver", openDualStackRealCluster);
severalLoadBalancersSuite("kube-apiserver", openDualStackRealCluster);
