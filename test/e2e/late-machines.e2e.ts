import { lateMachinesSuite } from "../suites/services/late-machines.ts";
import { openRealCluster } from "../support/real-cluster.ts";

lateMachinesSuite("kube-apiserver", openRealCluster);
