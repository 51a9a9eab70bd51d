import { handoverSuite } from "../../suites/services/handover.ts";
import { openDualStackCluster } from "../../support/embedded-cluster.ts";

handoverSuite("the embedded server", openDualStackCluster);
