/** Services beside the resources and the writes of others, and beside Services that cannot be served, on a real kube-apiserver. */
import { foreignThingsSuite } from "../suites/services/foreign-things.ts";
import { hostileServicesSuite } from "../suites/services/hostile-services.ts";
import { poisonedSuite } from "../suites/services/poisoned.ts";
import { twoWritersSuite } from "../suites/services/two-writers.ts";
import { openRealCluster } from "../support/real-cluster.ts";

twoWritersSuite("kube-apiserver", openRealCluster);
poisonedSuite("kube-apiserver", openRealCluster);
foreignThingsSuite("kube-apiserver", openRealCluster);
hostileServicesSuite("kube-apiserver", openRealCluster);
