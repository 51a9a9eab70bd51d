import { dualStackSuite, transitionsSuite } from "../../suites/admin-state/transitions.ts";
import { openDualStackCluster, openEmbeddedCluster } from "../../support/embedded-cluster.ts";

transitionsSuite("the embedded server", openEmbeddedCluster);
dualStackSuite("the embedded server", openDualStackCluster);
