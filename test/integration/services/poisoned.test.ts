import { poisonedSuite } from "../../suites/services/poisoned.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

poisonedSuite("the embedded server", openEmbeddedCluster);
