import { lbcfBadInput } from "../integration/lbcf/bad-input.ts";
import { openRealCluster } from "../support/real-cluster.ts";

lbcfBadInput("kube-apiserver", openRealCluster);
