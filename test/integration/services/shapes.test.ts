import { dualStackSuite } from "../../suites/services/dual-stack.ts";
import { shapesSuite } from "../../suites/services/shapes.ts";
import { openDualStackCluster, openEmbeddedCluster } from "../../support/embedded-cluster.ts";

shapesSuite("the embedded server", openEmbeddedCluster);
dualStackSuite("the embedded server", openDualStackCluster);
