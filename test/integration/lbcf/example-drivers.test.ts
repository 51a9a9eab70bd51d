import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { lbcfExampleDrivers } from "./example-drivers.ts";

lbcfExampleDrivers("the embedded server", openEmbeddedCluster, ["python"]); // building Go takes too long here
