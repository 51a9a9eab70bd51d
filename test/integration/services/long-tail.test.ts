/** A sample of the recordings; all of them run on a real kube-apiserver (`npm run e2e`) and in `npm run test:long`. */
import { longTailSuite } from "../../suites/services/long-tail.ts";
import { campaign } from "../../support/campaign.ts";
import { openDualStackCluster } from "../../support/embedded-cluster.ts";
import { readLongTail } from "../../support/long-tail.ts";

const EACH = campaign({ sample: 5, long: 1 });

longTailSuite(
  "the embedded server",
  openDualStackCluster,
  readLongTail().filter((_, at) => at % EACH === 0),
);
