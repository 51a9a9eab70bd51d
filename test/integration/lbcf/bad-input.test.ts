import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { lbcfBadInput } from "./bad-input.ts";

lbcfBadInput("the embedded server", openEmbeddedCluster);
