import { kubernetesContract } from "../contract/kubernetes/suite.ts";
import { openRealCluster } from "../support/real-cluster.ts";

kubernetesContract("kube-apiserver", openRealCluster);
