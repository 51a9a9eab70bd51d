import { oneInvalidServiceSuite } from "../../suites/services/one-invalid-service.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

oneInvalidServiceSuite("the embedded server", openEmbeddedCluster);
