import { takeOverSuite } from "../../suites/services/take-over.ts";
import { openDualStackCluster } from "../../support/embedded-cluster.ts";

takeOverSuite("the embedded server", openDualStackCluster);
