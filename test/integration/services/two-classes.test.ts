import { twoClassesSuite } from "../../suites/services/two-classes.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

twoClassesSuite("the embedded server", openEmbeddedCluster);
