import { hostileServicesSuite } from "../../suites/services/hostile-services.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

hostileServicesSuite("the embedded server", openEmbeddedCluster);
