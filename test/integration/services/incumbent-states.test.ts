import { incumbentStatesSuite } from "../../suites/services/incumbent-states.ts";
import { openDualStackCluster } from "../../support/embedded-cluster.ts";

incumbentStatesSuite("the embedded server", openDualStackCluster);
