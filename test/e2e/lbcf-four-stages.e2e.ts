import { lbcfFourStages } from "../integration/lbcf/four-stages.ts";
import { openRealCluster } from "../support/real-cluster.ts";

lbcfFourStages("kube-apiserver", openRealCluster);
