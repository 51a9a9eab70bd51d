import { lbcfAzureBackends } from "../integration/lbcf/azure-backends.ts";
import { openRealCluster } from "../support/real-cluster.ts";

lbcfAzureBackends("kube-apiserver", openRealCluster);
