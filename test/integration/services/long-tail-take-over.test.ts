import { longTailTakeOverSuite } from "../../suites/services/long-tail-take-over.ts";
import { openDualStackCluster } from "../../support/embedded-cluster.ts";

longTailTakeOverSuite("the embedded server", openDualStackCluster);
