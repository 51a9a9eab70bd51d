/** Measures the reflectors of `src/kube` against the bench's server, with the projections of the controller. */
import { projectNode, projectService } from "../../src/controller/projections.ts";
import { HttpTransport } from "../../src/kube/client/http-transport.ts";
import { KubeClient } from "../../src/kube/client/kube-client.ts";
import { LiveCredentials } from "../../src/kube/client/live-credentials.ts";
import { Reflector } from "../../src/kube/cache/reflector.ts";
import { ENDPOINT_SLICES, NODES, SERVICES, type KubeObject } from "../../src/kube/client/resources.ts";
import { realClock } from "../../src/main/real-clock.ts";
import { measure } from "./measured-client.ts";
import { NODE_KIND, SERVICE_KIND } from "./objects.ts";

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: object;
  readonly nodeName?: string;
}

interface EndpointSlice extends KubeObject {
  readonly endpoints: readonly Endpoint[];
  readonly ports?: readonly object[];
}

/** The fields of a slice that a controller of endpoints needs. */
function projectSlice(object: KubeObject): EndpointSlice {
  const { metadata, endpoints, ports } = object as EndpointSlice;
  const { name, namespace, uid, resourceVersion, labels } = metadata;
  return {
    metadata: { name, uid, resourceVersion, ...(namespace && { namespace }), ...(labels && { labels }) },
    endpoints: endpoints.map(({ addresses, conditions, nodeName }) => ({
      addresses,
      ...(conditions && { conditions }),
      ...(nodeName && { nodeName }),
    })),
    ...(ports && { ports }),
  };
}

const base = process.argv[2] ?? "";
const access = { server: base, namespace: "default", identity: { kind: "none" } } as const;
const client = new KubeClient({
  transport: new HttpTransport(new LiveCredentials(access, realClock)),
  clock: realClock,
});
const common = { client, clock: realClock, random: Math.random };
const nodes = new Reflector({ ...common, resource: NODES, project: projectNode });
const services = new Reflector({ ...common, resource: SERVICES, project: projectService });
const byService = (slice: EndpointSlice): string[] => [slice.metadata.labels?.["kubernetes.io/service-name"] ?? ""];
const slices = new Reflector({
  ...common,
  resource: ENDPOINT_SLICES,
  project: projectSlice,
  indexers: { service: byService },
});
const { signal } = new AbortController();
for (const reflector of [nodes, services, slices]) void reflector.run(signal);

await measure(base, {
  synced: Promise.all([nodes.synced, services.synced, slices.synced]).then(() => {}),
  onChange(path, listener) {
    const onUpdate = ({ kind }: { kind: string }): void => void (kind === "updated" && listener());
    if (path === NODE_KIND.path) nodes.subscribe(onUpdate);
    if (path === SERVICE_KIND.path) services.subscribe(onUpdate);
  },
});
