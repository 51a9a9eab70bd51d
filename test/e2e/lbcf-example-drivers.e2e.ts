import { lbcfExampleDrivers } from "../integration/lbcf/example-drivers.ts";
import { openRealCluster } from "../support/real-cluster.ts";

lbcfExampleDrivers("kube-apiserver", openRealCluster, ["python", "go"]);
