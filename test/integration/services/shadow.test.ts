/** A sample of the recordings; `npm run test:long` runs all of them. */
import { shadowSuite } from "../../suites/services/shadow.ts";
import { campaign } from "../../support/campaign.ts";
import { openDualStackCluster } from "../../support/embedded-cluster.ts";
import { readScenarios } from "../../support/incumbent-states.ts";

const EACH = campaign({ sample: 3, long: 1 });

shadowSuite(
  "the embedded server",
  openDualStackCluster,
  readScenarios().filter((_, at) => at % EACH === 0),
);
