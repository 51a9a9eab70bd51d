import { kubernetesContract } from "../contract/kubernetes/suite.ts";
import { openRealCluster } from "../support/clusters.ts";

kubernetesContract("kube-apiserver", openRealCluster);
