import { drainCommandSuite } from "../../suites/admin-state/drain-command.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

drainCommandSuite("the embedded server", openEmbeddedCluster);
