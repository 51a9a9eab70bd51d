import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { lbcfDefinitions } from "./definitions.ts";

lbcfDefinitions("the embedded server", openEmbeddedCluster);
