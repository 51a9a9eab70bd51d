/** LoadBalancer Services on a real kube-apiserver: what the embedded one shows in `npm test`, shown there too. */
import { annotationsSuite } from "../suites/services/annotations.ts";
import { incumbentStatesSuite } from "../suites/services/incumbent-states.ts";
import { lifecycleSuite } from "../suites/services/lifecycle.ts";
import { aroundSuite } from "../suites/services/around.ts";
import { basicModesSuite } from "../suites/services/basic-modes.ts";
import { flipSuite } from "../suites/services/flip.ts";
import { foreignThingsSuite } from "../suites/services/foreign-things.ts";
import { hostileServicesSuite } from "../suites/services/hostile-services.ts";
import { poisonedSuite } from "../suites/services/poisoned.ts";
import { dualStackSuite, shapesSuite } from "../suites/services/shapes.ts";
import { takeOverSuite } from "../suites/services/take-over.ts";
import { twoWritersSuite } from "../suites/services/two-writers.ts";
import { openDualStackRealCluster, openRealCluster } from "../support/real-cluster.ts";

annotationsSuite("kube-apiserver", openRealCluster, openDualStackRealCluster);
lifecycleSuite("kube-apiserver", openRealCluster);
flipSuite("kube-apiserver", openRealCluster);
shapesSuite("kube-apiserver", openRealCluster);
basicModesSuite("kube-apiserver", openRealCluster);
dualStackSuite("kube-apiserver", openDualStackRealCluster);
incumbentStatesSuite("kube-apiserver", openDualStackRealCluster);
takeOverSuite("kube-apiserver", openDualStackRealCluster);
twoWritersSuite("kube-apiserver", openRealCluster);
poisonedSuite("kube-apiserver", openRealCluster);
foreignThingsSuite("kube-apiserver", openRealCluster);
hostileServicesSuite("kube-apiserver", openRealCluster);
aroundSuite("kube-apiserver", openRealCluster);
