/** Taking the controller out of a cluster, on a real kube-apiserver. */
import { uninstallSuite } from "../suites/services/uninstall.ts";
import { openDualStackRealCluster } from "../support/real-cluster.ts";

uninstallSuite("kube-apiserver", openDualStackRealCluster);
