import { lbcfAgreement } from "../integration/lbcf/agreement.ts";
import { openRealCluster } from "../support/real-cluster.ts";

lbcfAgreement("kube-apiserver", openRealCluster, 1);
