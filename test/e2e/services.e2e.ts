/** LoadBalancer Services on a real kube-apiserver: what the embedded one shows in `npm test`, shown there too. */
import { annotationsSuite } from "../suites/services/annotations.ts";
import { settingsAndShutdownSuite } from "../suites/services/settings-and-shutdown.ts";
import { lifecycleSuite } from "../suites/services/lifecycle.ts";
import { openDualStackRealCluster, openRealCluster } from "../support/real-cluster.ts";

annotationsSuite("kube-apiserver", openRealCluster, openDualStackRealCluster);
lifecycleSuite("kube-apiserver", openRealCluster);
settingsAndShutdownSuite("kube-apiserver", openRealCluster);
