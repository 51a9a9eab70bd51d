import { restoredClusterSuite } from "../../suites/services/restored-cluster.ts";
import { openDualStackCluster } from "../../support/embedded-cluster.ts";

restoredClusterSuite("the embedded server", openDualStackCluster);
