import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { lbcfCrashes } from "./crashes.ts";

lbcfCrashes("the embedded server", openEmbeddedCluster, "in turn");
