import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { kubeClientContract } from "./suite.ts";

kubeClientContract("the embedded server", openEmbeddedCluster);
