/** A sample of the recordings; `npm run test:long` runs all of them. */
import { longTailShadowSuite } from "../../suites/services/long-tail-shadow.ts";
import { campaign } from "../../support/campaign.ts";
import { openDualStackCluster } from "../../support/embedded-cluster.ts";
import { readLongTail } from "../../support/long-tail.ts";

const EACH = campaign({ sample: 12, long: 1 });

longTailShadowSuite(
  "the embedded server",
  openDualStackCluster,
  readLongTail().filter((_, at) => at % EACH === 1 % EACH),
);
