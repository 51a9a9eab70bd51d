import { lbcfGiveBack } from "../integration/lbcf/give-back.ts";
import { openRealCluster } from "../support/real-cluster.ts";

lbcfGiveBack("kube-apiserver", openRealCluster);
