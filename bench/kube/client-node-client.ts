/** Measures the informers of `@kubernetes/client-node` against the bench's server, used as its documentation shows. */
import { CoreV1Api, DiscoveryV1Api, KubeConfig, makeInformer } from "@kubernetes/client-node";

import { measure } from "./measured-client.ts";
import { NODE_KIND, SERVICE_KIND, SLICE_KIND } from "./objects.ts";

const base = process.argv[2] ?? "";
const config = new KubeConfig();
config.loadFromClusterAndUser(
  { name: "bench", server: base, skipTLSVerify: true }, // it refuses plain HTTP otherwise
  { name: "bench" },
);
const core = config.makeApiClient(CoreV1Api);
const discovery = config.makeApiClient(DiscoveryV1Api);
const nodes = makeInformer(config, NODE_KIND.path, () => core.listNode());
const services = makeInformer(config, SERVICE_KIND.path, () => core.listServiceForAllNamespaces());
const slices = makeInformer(config, SLICE_KIND.path, () => discovery.listEndpointSliceForAllNamespaces());

await measure(base, {
  synced: Promise.all([nodes.start(), services.start(), slices.start()]).then(() => {}),
  onChange(path, listener) {
    if (path === NODE_KIND.path) nodes.on("update", listener);
    if (path === SERVICE_KIND.path) services.on("update", listener);
  },
});
