import { aroundSuite } from "../../suites/services/around.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

aroundSuite("the embedded server", openEmbeddedCluster);
