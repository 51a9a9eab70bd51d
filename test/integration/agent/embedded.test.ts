import { agentSuite } from "../../suites/agent/agent.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

agentSuite("the embedded server", openEmbeddedCluster);
