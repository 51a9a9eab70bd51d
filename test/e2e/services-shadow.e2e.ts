/** The shadow beside the incumbent's recordings, on a real kube-apiserver. */
import { longTailShadowSuite } from "../suites/services/long-tail-shadow.ts";
import { shadowSuite } from "../suites/services/shadow.ts";
import { openDualStackRealCluster } from "../support/real-cluster.ts";
import { reusedClusters } from "../support/reused-clusters.ts";
import { readLongTail } from "../support/long-tail.ts";

const openCluster = reusedClusters(openDualStackRealCluster);

shadowSuite("kube-apiserver", openCluster);
longTailShadowSuite(
  "kube-apiserver",
  openCluster,
  readLongTail().filter((_, at) => at % 4 === 0),
);
