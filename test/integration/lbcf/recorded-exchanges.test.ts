import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { lbcfRecordedExchanges } from "./recorded-exchanges.ts";

lbcfRecordedExchanges("the embedded server", openEmbeddedCluster);
