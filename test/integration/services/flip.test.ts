import { flipSuite } from "../../suites/services/flip.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

flipSuite("the embedded server", openEmbeddedCluster);
