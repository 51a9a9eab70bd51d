import { brakeSuite } from "../../suites/services/brake.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

brakeSuite("the embedded server", openEmbeddedCluster);
