import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { lbcfBinds } from "./binds.ts";

lbcfBinds("the embedded server", openEmbeddedCluster);
