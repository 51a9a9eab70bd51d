import { lbcfConformance } from "../integration/lbcf/conformance.ts";
import { openRealCluster } from "../support/real-cluster.ts";

lbcfConformance("kube-apiserver", openRealCluster);
