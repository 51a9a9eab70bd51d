import { uninstallSuite } from "../../suites/services/uninstall.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

uninstallSuite("the embedded server", openEmbeddedCluster);
