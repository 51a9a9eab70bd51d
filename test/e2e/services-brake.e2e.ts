/** The brake on blast radius, on a real kube-apiserver. */
import { brakeSuite } from "../suites/services/brake.ts";
import { openRealCluster } from "../support/real-cluster.ts";

brakeSuite("kube-apiserver", openRealCluster);
