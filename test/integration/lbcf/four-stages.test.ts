import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { lbcfFourStages } from "./four-stages.ts";

lbcfFourStages("the embedded server", openEmbeddedCluster);
