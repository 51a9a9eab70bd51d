import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { lbcfBadDrivers } from "./bad-drivers.ts";

lbcfBadDrivers("the embedded server", openEmbeddedCluster);
