import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { lbcfNamespaces } from "./namespaces.ts";

lbcfNamespaces("the embedded server", openEmbeddedCluster);
