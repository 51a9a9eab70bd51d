/** What the incumbent would make of a Service, on a real kube-apiserver. */
import { incumbentStatesSuite } from "../suites/services/incumbent-states.ts";
import { openDualStackRealCluster } from "../support/real-cluster.ts";

incumbentStatesSuite("kube-apiserver", openDualStackRealCluster);
