import { lbcfNamespaces } from "../integration/lbcf/namespaces.ts";
import { openRealCluster } from "../support/real-cluster.ts";

lbcfNamespaces("kube-apiserver", openRealCluster);
