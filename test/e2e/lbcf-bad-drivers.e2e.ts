import { lbcfBadDrivers } from "../integration/lbcf/bad-drivers.ts";
import { openRealCluster } from "../support/real-cluster.ts";

lbcfBadDrivers("kube-apiserver", openRealCluster);
