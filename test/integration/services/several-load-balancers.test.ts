import { severalLoadBalancersSuite } from "../../suites/services/several-load-balancers.ts";
import { openDualStackCluster } from "../../support/embedded-cluster.ts";

severalLoadBalancersSuite("the embedded server", openDualStackCluster);
