import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { lbcfConformance } from "./conformance.ts";

lbcfConformance("the embedded server", openEmbeddedCluster);
