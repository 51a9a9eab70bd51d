import { basicModesSuite } from "../../suites/services/basic-modes.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

basicModesSuite("the embedded server", openEmbeddedCluster);
