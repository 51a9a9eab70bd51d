import { lbcfWebhookDrivers } from "../integration/lbcf/webhook-drivers.ts";
import { openRealCluster } from "../support/real-cluster.ts";

lbcfWebhookDrivers("kube-apiserver", openRealCluster);
