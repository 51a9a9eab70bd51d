import { lbcfDefinitions } from "../integration/lbcf/definitions.ts";
import { openRealCluster } from "../support/real-cluster.ts";

lbcfDefinitions("kube-apiserver", openRealCluster);
