import { campaign } from "../../support/campaign.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { lbcfCrashes } from "./crashes.ts";

lbcfCrashes("the embedded server", openEmbeddedCluster, campaign({ sample: "some", long: "both" }));
