import { lbcfKills } from "../integration/lbcf/kills.ts";
import { campaign } from "../support/campaign.ts";
import { openRealCluster } from "../support/real-cluster.ts";

lbcfKills("kube-apiserver", openRealCluster, campaign({ sample: 10, long: 50 }));
