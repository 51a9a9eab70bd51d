import { campaign } from "../../support/campaign.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { lbcfKills } from "./kills.ts";

lbcfKills("the embedded server", openEmbeddedCluster, campaign({ sample: 3, long: 50 }));
