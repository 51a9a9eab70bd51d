import { lateMachinesSuite } from "../../suites/services/late-machines.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";

lateMachinesSuite("the embedded server", openEmbeddedCluster);
