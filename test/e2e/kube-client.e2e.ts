import { kubeClientContract } from "../integration/kube-client/suite.ts";
import { openRealCluster } from "../support/real-cluster.ts";

kubeClientContract("kube-apiserver", openRealCluster);
