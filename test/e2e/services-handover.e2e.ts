/** The guide of docs/handover.md, on a real kube-apiserver. */
import { handoverSuite } from "../suites/services/handover.ts";
import { openDualStackRealCluster } from "../support/real-cluster.ts";

handoverSuite("kube-apiserver", openDualStackRealCluster);
