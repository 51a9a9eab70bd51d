import { lbcfRecordedExchanges } from "../integration/lbcf/recorded-exchanges.ts";
import { openRealCluster } from "../support/real-cluster.ts";

lbcfRecordedExchanges("kube-apiserver", openRealCluster);
