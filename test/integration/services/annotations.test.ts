import { annotationsSuite } from "../../suites/services/annotations.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

annotationsSuite("the embedded server", openEmbeddedCluster);
