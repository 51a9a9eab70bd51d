import { annotationsSuite } from "../../suites/services/annotations.ts";
import { openDualStackCluster, openEmbeddedCluster } from "../../support/embedded-cluster.ts";

annotationsSuite("the embedded server", openEmbeddedCluster, openDualStackCluster);
