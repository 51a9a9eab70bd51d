import { preemptionsSuite } from "../../suites/admin-state/preemptions.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

preemptionsSuite("the embedded server", openEmbeddedCluster);
