/** LoadBalancer Services on a real kube-apiserver: what the embedded one shows in `npm test`, shown there too. */
import { annotationsSuite } from "../suites/services/annotations.ts";
import { aroundSuite } from "../suites/services/around.ts";
import { lifecycleSuite } from "../suites/services/lifecycle.ts";
import { openDualStackRealCluster, openRealCluster } from "../support/real-cluster.ts";

annotationsSuite("kube-apiserver", openRealCluster, openDualStackRealCluster);
lifecycleSuite("kube-apiserver", openRealCluster);
aroundSuite("kube-apiserver", openRealCluster);
