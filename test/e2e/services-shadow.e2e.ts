/** The shadow beside the incumbent's recordings, on a real kube-apiserver. */
import { longTailShadowSuite } from "../suites/services/long-tail-shadow.ts";
import { shadowSuite } from "../suites/services/shadow.ts";
import { openDualStackRealCluster } from "../support/real-cluster.ts";
import { readLongTail } from "../support/long-tail.ts";

shadowSuite("kube-apiserver", openDualStackRealCluster);
longTailShadowSuite(
  "kube-apiserver",
  openDualStackRealCluster,
  readLongTail().filter((_, at) => at % 4 === 0),
);
