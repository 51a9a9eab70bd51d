import { fleetSuite } from "../../suites/services/fleet.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

fleetSuite("the embedded server", openEmbeddedCluster);
