import { lifecycleSuite } from "../../suites/services/lifecycle.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

lifecycleSuite("the embedded server", openEmbeddedCluster);
