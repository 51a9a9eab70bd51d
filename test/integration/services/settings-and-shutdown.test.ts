import { settingsAndShutdownSuite } from "../../suites/services/settings-and-shutdown.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

settingsAndShutdownSuite("the embedded server", openEmbeddedCluster);
