import { lbcfCrashes } from "../integration/lbcf/crashes.ts";
import { openRealCluster } from "../support/real-cluster.ts";

lbcfCrashes("kube-apiserver", openRealCluster, "both");
