import { uninstallSuite } from "../../suites/services/uninstall.ts";
import { openDualStackCluster } from "../../support/embedded-cluster.ts";

uninstallSuite("the embedded server", openDualStackCluster);
