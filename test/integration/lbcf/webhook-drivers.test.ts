import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { lbcfWebhookDrivers } from "./webhook-drivers.ts";

lbcfWebhookDrivers("the embedded server", openEmbeddedCluster);
