/** One worker thread of `campaign-pool.ts`: runs each batch of seeds that it is sent and replies with its result. */
import { parentPort } from "node:worker_threads";

import { runCampaign, type CampaignOptions } from "./campaign.ts";

parentPort?.on("message", (options: CampaignOptions) => {
  void runCampaign(options).then((result) => parentPort?.postMessage(result, []));
});
