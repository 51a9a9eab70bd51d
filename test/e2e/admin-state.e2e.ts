/** Doomed nodes on a real kube-apiserver: what the embedded one shows in `npm test`, shown there too. */
import { drainCommandSuite } from "../suites/admin-state/drain-command.ts";
import { preemptionsSuite } from "../suites/admin-state/preemptions.ts";
import { dualStackSuite, transitionsSuite } from "../suites/admin-state/transitions.ts";
import { openDualStackRealCluster, openRealCluster } from "../support/real-cluster.ts";

transitionsSuite("kube-apiserver", openRealCluster);
dualStackSuite("kube-apiserver", openDualStackRealCluster);
preemptionsSuite("kube-apiserver", openRealCluster);
drainCommandSuite("kube-apiserver", openRealCluster);
