import { twoWritersSuite } from "../../suites/services/two-writers.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

twoWritersSuite("the embedded server", openEmbeddedCluster);
