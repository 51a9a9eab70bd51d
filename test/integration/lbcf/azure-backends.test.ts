import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { lbcfAzureBackends } from "./azure-backends.ts";

lbcfAzureBackends("the embedded server", openEmbeddedCluster);
