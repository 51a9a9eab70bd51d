/** Services in clusters of every shape, on a real kube-apiserver. */
import { basicModesSuite } from "../suites/services/basic-modes.ts";
import { basicToStandardSuite } from "../suites/services/basic-to-standard.ts";
import { flipSuite } from "../suites/services/flip.ts";
import { dualStackSuite } from "../suites/services/dual-stack.ts";
import { shapesSuite } from "../suites/services/shapes.ts";
import { openDualStackRealCluster, openRealCluster } from "../support/real-cluster.ts";

flipSuite("kube-apiserver", openRealCluster);
shapesSuite("kube-apiserver", openRealCluster);
basicModesSuite("kube-apiserver", openRealCluster);
basicToStandardSuite("kube-apiserver", openRealCluster);
dualStackSuite("kube-apiserver", openDualStackRealCluster);
