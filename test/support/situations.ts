/**
 * Situations that people meet, each made for real on one rig, with what is expected of the event, of `azlb explain` and of the
 * page. `test/integration/situations.test.ts` makes them and writes down what was said.
 */
import assert from "node:assert/strict";

import { baseName } from "../../src/core/model/names.ts";
import { LEASES, NODES, SERVICES } from "../../src/kube/client/resources.ts";
import { ensureEndpoints } from "../../src/main/sandbox-endpoints.ts";
import type { Lease } from "../../src/kube/election/lease.ts";
import { eventually } from "./eventually.ts";
import { FaultControl } from "./fault-control.ts";
import { type Manifest, propertiesOf, type ServiceRig, WITHIN_MS } from "./service-rig.ts";

export interface Situation {
  readonly title: string;
  /** The Service that is asked for. */
  readonly name: string;
  readonly make: (rig: ServiceRig) => Promise<unknown>;
  /** `reason: message`; absent: there is none, since the controller is not there, has no part in it, or only Azure knows. */
  readonly event?: RegExp;
  readonly explain: RegExp;
  /** Absent: there is no page, since there is no controller. */
  readonly page?: RegExp;
  readonly unmake?: (rig: ServiceRig) => Promise<unknown>;
  /** The controller is not there, so that the command looks itself. */
  readonly isAlone?: boolean;
}

const LOCK = { namespace: "kube-system", name: "aks-managed-resource-locker" };

function applied(name: string, manifest: Omit<Manifest, "name"> = {}): Pick<Situation, "name" | "make"> {
  return { name, make: (rig) => rig.apply({ name, ...manifest }) };
}

/** Azure answers writes of public IPs so, until it is cleared. */
function answered(name: string, effect: object): Pick<Situation, "name" | "make" | "unmake"> {
  return {
    name,
    make: async (rig) => {
      const fault = { method: ["PUT"], path: "**/publicIPAddresses/*", count: null };
      await faultsOf(rig).arm({ ...fault, effect: { kind: "status", ...effect } });
      await rig.apply({ name });
    },
    unmake: async (rig) => {
      await faultsOf(rig).clear();
      await rig.annotate(name, { "example.com/touched": "true" });
      await rig.publishedWithin(name, WITHIN_MS);
    },
  };
}

function faultsOf(rig: ServiceRig): FaultControl {
  return new FaultControl(rig.azure.controlUrl);
}

/** All at once: none disturbs another. */
export const SIDE_BY_SIDE: readonly Situation[] = [
  {
    title: "everything is as it asks",
    name: "fine",
    make: async (rig) => {
      await rig.apply({ name: "fine" });
      await ensureEndpoints(rig.kube, "default", "fine");
    },
    event: /^EnsuredLoadBalancer: /,
    explain: /^stands +served for .*: everything is as it asks$/m,
    page: /^served$/m,
  },
  {
    title: "an annotation has a value that is not allowed",
    ...applied("value", { annotations: { "azure-load-balancer-internal": "maybe" } }),
    event: /^InvalidAnnotation: .*azure-load-balancer-internal/,
    explain: /^refused +InvalidAnnotation: .*azure-load-balancer-internal.*"maybe"/m,
    page: /^InvalidAnnotation: .*"maybe"/m,
  },
  {
    title: "an annotation is misspelt",
    ...applied("misspelt", { annotations: { "azure-load-balancer-tcp-idle-timout": "5" } }),
    event: /^UnknownAnnotation: /,
    explain: /^stands +works, but ignored: .*azure-load-balancer-tcp-idle-timout/m,
    page: /^works, but: .*azure-load-balancer-tcp-idle-timout/m,
  },
  {
    title: "a range in an annotation is no range",
    ...applied("ranges", { annotations: { "azure-allowed-ip-ranges": "nonsense" } }),
    event: /^InvalidAllowedIPRanges: /,
    explain: /^stands +works, but ignored: .*nonsense/m,
    page: /^works, but: .*nonsense/m,
  },
  {
    title: "a port of a protocol that Azure does not balance",
    ...applied("sctp", { spec: { ports: [{ port: 80, protocol: "SCTP" }] } }),
    event: /^InvalidService: /,
    explain: /^refused +InvalidService: .*SCTP/m,
    page: /^InvalidService: .*SCTP/m,
  },
  {
    title: "the subnet does not exist",
    ...applied("subnet", {
      annotations: { "azure-load-balancer-internal": "true", "azure-load-balancer-internal-subnet": "nowhere" },
    }),
    event: /^SubnetNotFound: /,
    explain: /^refused +SubnetNotFound: .*nowhere/m,
    page: /^SubnetNotFound: .*nowhere/m,
  },
  {
    title: "the named public IP does not exist",
    ...applied("pip", { annotations: { "azure-pip-name": "nowhere" } }),
    event: /^PublicIPNotFound: /,
    explain: /^refused +PublicIPNotFound: .*nowhere/m,
    page: /^PublicIPNotFound: .*nowhere/m,
  },
  {
    title: "the resource group does not exist",
    ...applied("group", { annotations: { "azure-load-balancer-resource-group": "nowhere" } }),
    event: /^ResourceGroupNotFound: /,
    explain: /^refused +ResourceGroupNotFound: .*nowhere/m,
    page: /^ResourceGroupNotFound: .*nowhere/m,
  },
  {
    title: "the pinned address cannot be a public one",
    ...applied("pinned", { spec: { loadBalancerIP: "10.9.9.9" } }),
    event: /^(InvalidLoadBalancerIP|PublicIPNotFound): /,
    explain: /^refused +(InvalidLoadBalancerIP|PublicIPNotFound): .*10\.9\.9\.9/m,
    page: /^(InvalidLoadBalancerIP|PublicIPNotFound): .*10\.9\.9\.9/m,
  },
  {
    title: "another Service has the port at that address",
    name: "second",
    make: async (rig) => {
      await rig.apply({ name: "first" });
      const [address] = await rig.served("first");
      await rig.apply({ name: "second", spec: { loadBalancerIP: address } });
    },
    event: /^PortConflict: /,
    explain: /^refused +PortConflict: .*80/m,
    page: /^PortConflict: .*80/m,
  },
  {
    title: "another Service has the DNS label",
    name: "label",
    make: async (rig) => {
      await rig.apply({ name: "labelled", annotations: { "azure-dns-label-name": "shop" } });
      await rig.served("labelled");
      await rig.apply({ name: "label", annotations: { "azure-dns-label-name": "shop" } });
    },
    event: /^DNSLabelConflict: /,
    explain: /^refused +DNSLabelConflict: .*shop/m,
    page: /^DNSLabelConflict: .*shop/m,
  },
  {
    title: "no pod of the Service is ready",
    ...applied("idle"),
    event: /^EnsuredLoadBalancer: /,
    explain: /^trouble +no ready endpoint on any node/m,
    page: /^no ready endpoint on any node/m,
  },
  {
    title: "externalTrafficPolicy Local, and pods on some of the nodes",
    name: "local",
    make: async (rig) => {
      await rig.apply({ name: "local", spec: { externalTrafficPolicy: "Local" } });
      await ensureEndpoints(rig.kube, "default", "local", 1);
    },
    event: /^EnsuredLoadBalancer: /,
    explain: /^pool .*ready endpoints on vmss000000, and only these answer \(Local\)$/m,
    page: /^pool kubernetes: 1 of 3 members with a ready endpoint$/m,
  },
  {
    title: "the probe asks at a port where nothing answers",
    ...applied("probe", { annotations: { "port_80_health-probe_port": "9999" } }),
    event: /^EnsuredLoadBalancer: /,
    explain: /^trouble +no member answers the probe TCP :9999, so nothing that comes to 80\/TCP is passed on$/m,
    page: /^no member answers the probe TCP :9999, so nothing that comes to 80\/TCP is passed on$/m,
  },
  {
    title: "open to some sources only",
    ...applied("narrow", { spec: { loadBalancerSourceRanges: ["203.0.113.0/24"] } }),
    event: /^EnsuredLoadBalancer: /,
    explain: /^sources +asks to be open to 203\.0\.113\.0\/24 alone$/m,
    page: /^Allow from 203\.0\.113\.0\/24$/m,
  },
  {
    title: "of another load balancer class",
    ...applied("foreign", { spec: { loadBalancerClass: "example.com/other" } }),
    explain: /its loadBalancerClass is example.com\/other/,
    page: /its loadBalancerClass is example.com\/other/,
  },
  {
    title: "not of type LoadBalancer",
    ...applied("plain", { spec: { type: "ClusterIP" } }),
    explain: /its type is ClusterIP, not LoadBalancer/,
    page: /its type is ClusterIP, not LoadBalancer/,
  },
];

/** One after the other. */
export const IN_TURN: readonly Situation[] = [
  {
    title: "a quota of the subscription is used up",
    ...answered("quota", { status: 400, code: "PublicIPCountLimitReached", message: "no more than 1000" }),
    event: /^SyncLoadBalancerFailed: .*a limit is reached/,
    explain: /^failed +SyncLoadBalancerFailed: .*a limit is reached/m,
    page: /^SyncLoadBalancerFailed: .*a limit is reached/m,
  },
  {
    title: "the controller has no right in Azure",
    ...answered("denied", { status: 403, code: "AuthorizationFailed", message: "no right" }),
    event: /^SyncLoadBalancerFailed: .*AuthorizationFailed/,
    explain: /^failed +SyncLoadBalancerFailed: .*AuthorizationFailed/m,
    page: /^SyncLoadBalancerFailed: .*AuthorizationFailed/m,
  },
  {
    title: "Azure is out of order",
    ...answered("outage", { status: 503, code: "ServiceUnavailable", message: "later" }),
    event: /^SyncLoadBalancerFailed: .*ServiceUnavailable/,
    explain: /^(failed|waits) +SyncLoadBalancerFailed: .*ServiceUnavailable/m,
    page: /^SyncLoadBalancerFailed: .*ServiceUnavailable/m,
  },
  {
    title: "Azure throttles",
    ...answered("throttled", { status: 429, code: "TooManyRequests", message: "slowly", retryAfterSeconds: 5 }),
    event: /^SyncLoadBalancerFailed: .*throttles/,
    explain: /^throttled +Azure throttles until \d{4}-/m,
    page: /^SyncLoadBalancerFailed: .*throttles/m,
  },
  {
    title: "another client holds the lock on the load balancers",
    name: "locked",
    make: async (rig) => {
      await releasedLock(rig);
      const now = new Date().toISOString().replace("Z", "000Z");
      const spec = { holderIdentity: "aks-upgrade", leaseDurationSeconds: 900, acquireTime: now, renewTime: now };
      await rig.kube.patch(LEASES, LOCK, { merge: { spec } });
      await rig.apply({ name: "locked" });
    },
    explain: /^trouble +aks-upgrade holds the lock on the load balancers: writes wait until it lets go$/m,
    page: /^aks-upgrade holds the lock on the load balancers/m,
    unmake: async (rig) => {
      await rig.kube.patch(LEASES, LOCK, { merge: { spec: { holderIdentity: "" } } });
      await rig.publishedWithin("locked", WITHIN_MS);
    },
  },
  {
    title: "cloud-provider-azure writes the same load balancers",
    name: "contested",
    make: async (rig) => {
      const annotations = { "aks-managed-resource-locker-previous-holder": "cloud-controller-manager" };
      await releasedLock(rig);
      await rig.kube.patch(LEASES, LOCK, { merge: { metadata: { annotations } } });
      await rig.apply({ name: "contested" });
    },
    event: /^RivalController: /,
    explain: /^trouble +cloud-controller-manager changes this cluster's load balancers too/m,
    page: /^cloud-controller-manager changes this cluster's load balancers too/m,
  },
  {
    title: "a node is drained",
    name: "fine",
    make: (rig) => drain(rig, 1),
    event: /^EnsuredLoadBalancer: /,
    explain: /^pool .*; 1 Down: vmss\d+ \(drain\)/m,
    page: /^pool kubernetes: 1 of 3 members Down$/m,
  },
  {
    title: "all nodes are drained",
    name: "fine",
    make: (rig) => drain(rig, 3),
    event: /^EnsuredLoadBalancer: /,
    explain: /^trouble +all members of pool "kubernetes" are Down: none takes new connections$/m,
    page: /^all members of pool "kubernetes" are Down/m,
    unmake: (rig) => drain(rig, 0),
  },
  {
    title: "another client has changed it in Azure",
    name: "fine",
    make: async (rig) => {
      await editTimeout(rig, "fine", 17);
      await rig.restart({}); // which compares everything
    },
    event: /^DriftDetected: /,
    explain: /^drifted +DriftDetected: /m,
    page: /^DriftDetected: /m,
  },
  {
    title: "it is being deleted, and Azure does not let it go",
    name: "first",
    make: async (rig) => {
      const effect = { kind: "status", status: 403, code: "AuthorizationFailed", message: "no right" };
      await faultsOf(rig).arm({ method: ["PUT", "DELETE"], path: "**", count: null, effect });
      await rig.kube.delete(SERVICES, { namespace: "default", name: "first" });
    },
    event: /^DeleteLoadBalancerFailed: .*AuthorizationFailed/,
    explain: /^failed +DeleteLoadBalancerFailed: .*AuthorizationFailed/m,
    page: /^DeleteLoadBalancerFailed: .*AuthorizationFailed/m,
    unmake: (rig) => faultsOf(rig).clear(),
  },
  {
    title: "the controller was started with another cluster name",
    name: "fine",
    make: (rig) => rig.restart({}, { clusterName: "elsewhere" }),
    event: /^ConfigurationChanged: /,
    explain: /^trouble +the controller writes nothing, for no Service: .*elsewhere/m,
    page: /^the controller writes nothing, for no Service: .*elsewhere/m,
    unmake: (rig) => rig.stop(),
  },
  {
    title: "no controller runs",
    ...applied("forgotten"),
    explain: /^controller +no controller holds the Lease kube-system\/azlb-controller: nothing is done/m,
    isAlone: true,
  },
];

/** The controller keeps it for a little while after its last write. */
async function releasedLock(rig: ServiceRig): Promise<void> {
  await eventually(async () => {
    const { spec } = await rig.kube.get<Lease>(LEASES, LOCK);
    assert.equal(spec?.holderIdentity, "");
  }, WITHIN_MS);
}

/** So many of the nodes, and no other. */
async function drain(rig: ServiceRig, count: number): Promise<void> {
  const taint = { key: "azlb.io/drain", value: "manual", effect: "NoSchedule" };
  for (const [at, { name }] of rig.azure.nodes.entries()) {
    await rig.kube.patch(NODES, { name }, { merge: { spec: { taints: at < count ? [taint] : [] } } });
  }
}

/** Another client sets the idle timeout of a Service's rules. */
export async function editTimeout(rig: ServiceRig, name: string, minutes: number): Promise<void> {
  const body = (await rig.list("loadBalancers")).find((each) => each.name === "kubernetes");
  const base = baseName((await rig.service(name)).metadata.uid);
  const properties = propertiesOf(body);
  const rules = properties["loadBalancingRules"] as { name: string; properties: object }[];
  const loadBalancingRules = rules.map((rule) =>
    rule.name.startsWith(base) ? { ...rule, properties: { ...rule.properties, idleTimeoutInMinutes: minutes } } : rule,
  );
  await rig.put("loadBalancers/kubernetes", { ...body, properties: { ...properties, loadBalancingRules } });
}
