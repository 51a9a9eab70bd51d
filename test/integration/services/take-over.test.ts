/** A sample of the recordings; all of them run on a real kube-apiserver (`npm run e2e`) and in `npm run test:long`. */
import { takeOverSuite } from "../../suites/services/take-over.ts";
import { campaign } from "../../support/campaign.ts";
import { openDualStackCluster } from "../../support/embedded-cluster.ts";
import { readScenarios } from "../../support/incumbent-states.ts";

const EACH = campaign({ sample: 3, long: 1 });

takeOverSuite(
  "the embedded server",
  openDualStackCluster,
  readScenarios().filter((_, at) => at % EACH === 0),
);
