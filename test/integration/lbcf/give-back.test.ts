import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { lbcfGiveBack } from "./give-back.ts";

lbcfGiveBack("the embedded server", openEmbeddedCluster);
