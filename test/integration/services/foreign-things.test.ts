import { foreignThingsSuite } from "../../suites/services/foreign-things.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

foreignThingsSuite("the embedded server", openEmbeddedCluster);
