import { configurationGuardSuite } from "../../suites/services/configuration-guard.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

configurationGuardSuite("the embedded server", openEmbeddedCluster);
