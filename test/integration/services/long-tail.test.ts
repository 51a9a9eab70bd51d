import { longTailSuite } from "../../suites/services/long-tail.ts";
import { openDualStackCluster } from "../../support/embedded-cluster.ts";

longTailSuite("the embedded server", openDualStackCluster);
