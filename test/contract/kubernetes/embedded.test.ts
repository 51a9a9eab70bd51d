import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { kubernetesContract } from "./suite.ts";

kubernetesContract("the embedded server", openEmbeddedCluster);
