/** A sample of the recordings; all of them run on a real kube-apiserver (`npm run e2e`) and in `npm run test:long`. */
import { incumbentStatesSuite } from "../../suites/services/incumbent-states.ts";
import { campaign } from "../../support/campaign.ts";
import { openDualStackCluster } from "../../support/embedded-cluster.ts";
import { readScenarios } from "../../support/incumbent-states.ts";

/** Others than `take-over.test.ts` has. */
const EACH = campaign({ sample: 3, long: 1 });

incumbentStatesSuite(
  "the embedded server",
  openDualStackCluster,
  readScenarios().filter((_, at) => at % EACH === Math.min(1, EACH - 1)),
);
