/** The agent on a real kube-apiserver: the suite of the embedded one, with full rights. */
import { agentSuite } from "../suites/agent/agent.ts";
import { openRealCluster } from "../support/real-cluster.ts";

agentSuite("kube-apiserver", openRealCluster);
