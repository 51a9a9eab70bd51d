import { privateLinksSuite } from "../../suites/services/private-links.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

privateLinksSuite("the embedded server", openEmbeddedCluster);
