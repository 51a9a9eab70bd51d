import { lbcfBinds } from "../integration/lbcf/binds.ts";
import { openRealCluster } from "../support/real-cluster.ts";

lbcfBinds("kube-apiserver", openRealCluster);
