/** One thread of a crew: plays the shares of a campaign that it is sent, and answers each with what came of it. */
import { parentPort } from "node:worker_threads";

import { runCampaign, type CampaignOptions } from "./campaign.ts";

parentPort?.on("message", (options: CampaignOptions) => {
  void runCampaign(options).then((result) => parentPort?.postMessage(result, []));
});
