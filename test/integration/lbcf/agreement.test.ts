import { campaign } from "../../support/campaign.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { lbcfAgreement } from "./agreement.ts";

lbcfAgreement("the embedded server", openEmbeddedCluster, campaign({ sample: 5, long: 1 }));
