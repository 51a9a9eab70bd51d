/**
 * Every reason of the controller's events: Normal or Warning, on which objects, and its meaning. `docs/events.md` is
 * generated from this table, and the compiler refuses any other reason. When an event is emitted, and its message, is
 * decided where the work is done.
 */
type EventType = "Normal" | "Warning";
type EventObject = "Service" | "Node" | "LoadBalancer" | "Bind" | "BackendGroup" | "BackendRecord";

export interface EventRow<Type extends EventType = EventType> {
  readonly type: Type;
  readonly on: readonly EventObject[];
  readonly meaning: string;
}

const SERVICE = ["Service"] as const;
const NODE = ["Node"] as const;
const BALANCER = ["LoadBalancer", "Bind"] as const;
const GROUP = ["BackendGroup", "Bind"] as const;
const RECORD = ["BackendRecord"] as const;
const ANY_BALANCER = ["LoadBalancer", "Bind", "BackendGroup"] as const;

/** Outcomes of work on a Service. */
const OUTCOMES = {
  EnsuredLoadBalancer: normal(
    SERVICE,
    "Something was written, and Azure is now as the Service asks; names the addresses, those before if they changed, and what was written.",
  ),
  DeletedLoadBalancer: normal(
    SERVICE,
    "Everything that the Service owned in Azure is deleted, and the finalizer removed.",
  ),
  LoadBalancerMoved: normal(
    SERVICE,
    "The Service is served by another load balancer now, at the same addresses; names both.",
  ),
  SyncLoadBalancerFailed: warning(SERVICE, "A write to Azure or to the API server failed; it is retried."),
  DeleteLoadBalancerFailed: warning(SERVICE, "As SyncLoadBalancerFailed, for a Service that is being deleted."),
  DriftDetected: warning(
    SERVICE,
    "Azure was edited while the Service is unchanged, and is left so; says what differs.",
  ),
  LoadBalancerRestored: warning(
    SERVICE,
    "Everything of the Service on its load balancer was gone from Azure, and was made again at the same addresses.",
  ),
  ConfigurationChanged: warning(
    SERVICE,
    "A setting of the controller differs from what the Service has in Azure: nothing is written until it is accepted.",
  ),
  WriteWithheld: warning(
    SERVICE,
    "The brake: a write would take addresses, or members of its pool, from many unchanged Services at once, and waits.",
  ),
  RivalController: warning(SERVICE, "cloud-provider-azure's service controller writes the same load balancers."),
} as const;

/** The Service is refused: its resources in Azure stay as they are until the cause is fixed. */
const REFUSALS = {
  InvalidAnnotation: warning(SERVICE, "An annotation has a value that is not allowed; or a part of it is left out."),
  InvalidService: warning(SERVICE, "The spec cannot be served: no ports, no node port where one is needed, SCTP."),
  InvalidLoadBalancerIP: warning(SERVICE, "The pinned address is not valid, or cannot be a public one."),
  ConflictConfiguration: warning(SERVICE, "Two settings exclude each other (refused), or one has no effect beside it."),
  AddressTaken: warning(
    SERVICE,
    "An additional public address belongs to another owner; or the address is a Service's of another namespace, which " +
      "does not share it.",
  ),
  BackendPoolType: warning(SERVICE, "The pool holds network interfaces, but the config says nodeIP."),
  DNSLabelConflict: warning(SERVICE, "Another Service has the DNS label, or has set another one on the public IP."),
  FrontendShared: warning(SERVICE, "The address cannot change, since another owner uses the same frontend."),
  LoadBalancerFull: warning(SERVICE, "The load balancer would exceed one of Azure's limits; says which."),
  LoadBalancerSkuMismatch: warning(SERVICE, "The load balancer that exists has another SKU than the config."),
  NoLoadBalancer: warning(SERVICE, "No load balancer of multipleStandardLoadBalancerConfigurations takes the Service."),
  PortConflict: warning(SERVICE, "A port is already in use on that address."),
  PrivateLinkServiceNotPossible: warning(
    SERVICE,
    "Azure has no private link service for such a Service, or not on the cluster's load balancer.",
  ),
  PrivateLinkServiceTaken: warning(
    SERVICE,
    "The private link service of that name, or on that frontend, belongs to another owner.",
  ),
  PrivateLinkServiceFixed: warning(SERVICE, "Name and resource group of a private link service cannot be changed."),
  PublicIPFamily: warning(SERVICE, "The named public IP is of the other IP family."),
  PublicIPNotFound: warning(SERVICE, "The named or pinned public IP does not exist in that resource group."),
  PublicIPOfOtherCluster: warning(SERVICE, "The public IP is tagged as another cluster's."),
  PublicIPSku: warning(SERVICE, "The named public IP has another SKU than the config."),
  ResourceGroupNotFound: warning(SERVICE, "The resource group that the annotation names does not exist."),
  SecurityGroupFull: warning(SERVICE, "The security group would exceed one of Azure's limits."),
  SecurityGroupMissing: warning(SERVICE, "The security group of the cloud config does not exist."),
  SubnetNotFound: warning(SERVICE, "The VNet has no subnet of that name; says which it has."),
  TooManyRules: warning(SERVICE, "Every load balancer that could serve it has as many rules as the config allows."),
  TooManyServices: warning(SERVICE, "So many Services share the public IP that its tag cannot list one more."),
  UnknownVMSet: warning(SERVICE, "azure-load-balancer-mode names a VM set in which there is no node."),
} as const;

/** The Service is served nevertheless. */
const REMARKS = {
  AddressShared: warning(
    SERVICE,
    "The Service shares an address with another namespace since before addressSharing was limited; it stays.",
  ),
  AnnotationHasNoEffect: warning(SERVICE, "A setting has no effect for this Service; says why."),
  UnknownAnnotation: warning(SERVICE, "A key with a known prefix is unknown; suggests the closest key, or the ports."),
  InvalidAllowedIPRanges: warning(SERVICE, "An annotation lists an invalid range, which is ignored."),
  InvalidSourceRanges: warning(SERVICE, "spec.loadBalancerSourceRanges has an invalid range."),
  DeletePublicIPAddress: warning(SERVICE, "A public IP that is no longer needed stays; says what keeps it."),
  DeletingFrontendIPConfiguration: warning(SERVICE, "A frontend that is no longer needed stays; says who uses it."),
  ForeignBackendAddress: warning(SERVICE, "The pool has entries that are not of this cluster's nodes; they stay."),
  PublicIPNotTagged: warning(
    SERVICE,
    "The public IP under the Service's name has no tag that says whose it is: it is used, and stays.",
  ),
  PublicIPNotReplaced: warning(SERVICE, "A public IP keeps its IP tags, since something else uses its frontend."),
  SecurityGroupNearlyFull: warning(SERVICE, "The security group nears one of Azure's limits; says which."),
  UnAvailableLoadBalancer: warning(SERVICE, "No node can answer over an IP family; says why."),
} as const;

const ADMIN_STATES = {
  LoadBalancerAdminStateDown: normal(NODE, "The node gets no new connections any more; says why and in which pools."),
  LoadBalancerAdminStateNone: normal(NODE, "The node may get new connections again; says in which pools."),
  LoadBalancerAdminStateFailed: warning(NODE, "The admin state could not be set in a pool; it is retried."),
  EvictionDrained: normal(
    NODE,
    "The node was Down in every pool before its eviction was due; says how much time was left.",
  ),
  EvictionDrainedLate: warning(
    NODE,
    "The node was not Down in every pool when its eviction was due; says by how much.",
  ),
  SpotEvictionTainted: normal(NODE, "Azure is about to evict the node, so it was tainted."),
  TerminationTainted: normal(NODE, "Azure is about to delete the node's machine, as asked for, so it was tainted."),
  BackendsDraining: normal(SERVICE, "Nodes of its load balancer get no new connections any more; names some."),
  BackendsRestored: normal(SERVICE, "Nodes of its load balancer get new connections again; names some."),
  NodeAddressConflict: warning(
    NODE,
    "Another Node says that it has the same InternalIP or machine; load balancers have it once.",
  ),
  NoEligibleBackend: warning(["Node", "Service"], "All nodes of a pool are Down: none takes new connections."),
} as const;

/** Of `azlb agent`, as node problem detector names them on AKS. */
const AGENT = {
  PreemptScheduled: warning(NODE, "Azure evicts the Spot machine; says when. The controller taints the node."),
  TerminateScheduled: warning(NODE, "Azure deletes the machine because its scale set is scaled in; says when."),
  RebootScheduled: warning(NODE, "Azure restarts the machine; says when."),
  RedeployScheduled: warning(NODE, "Azure moves the machine to another host, with a restart; says when."),
  FreezeScheduled: warning(NODE, "Azure pauses the machine for some seconds; says when."),
  ScheduledEventOver: normal(NODE, "What was announced is over, or was cancelled."),
} as const;

const LOAD_BALANCERS = {
  SuccCreateLoadBalancer: normal(BALANCER, "The driver has created the load balancer."),
  RunningCreateLoadBalancer: normal(BALANCER, "The driver has begun to create it, and is called again."),
  FailedCreateLoadBalancer: warning(BALANCER, "The driver refused to create it, or did not answer."),
  InvalidCreateLoadBalancer: warning(BALANCER, "The driver's answer to its creation is not valid."),
  SuccEnsureLoadBalancer: normal(BALANCER, "The driver has brought changed attributes to the load balancer."),
  RunningEnsureLoadBalancer: normal(BALANCER, "The driver has begun to ensure it, and is called again."),
  FailedEnsureLoadBalancer: warning(BALANCER, "The driver refused to ensure it, or did not answer."),
  InvalidEnsureLoadBalancer: warning(BALANCER, "The driver's answer to ensuring it is not valid."),
  RunningDeleteLoadBalancer: normal(BALANCER, "The driver has begun to delete it, and is called again."),
  FailedDeleteLoadBalancer: warning(BALANCER, "The driver refused to delete it, or did not answer."),
  InvalidDeleteLoadBalancer: warning(BALANCER, "The driver's answer to its deletion is not valid."),
  Refused: warning(BALANCER, "The driver says that the load balancer's spec or attributes are not valid."),
  InvalidName: warning(["LoadBalancer"], "The object's name belongs in another namespace."),
  RecordsRemain: normal(BALANCER, "It is deleted once the backend records that name it are deregistered."),
  ForgottenLoadBalancer: warning(BALANCER, "A user released it by hand: what the driver created may still exist."),
  DriverDraining: warning(ANY_BALANCER, "The driver is draining or being deleted, and accepts nothing new."),
  DriverNotFound: warning(ANY_BALANCER, "The driver does not exist."),
  WebhookFailed: warning(
    ANY_BALANCER,
    "The driver could not be called to validate the object, or to choose pods to deregister.",
  ),
} as const;

const GROUPS = {
  SuccSyncedBackendGroup: normal(GROUP, "Backend records were created, changed or deleted; says how many."),
  CreateBackendFailed: warning(GROUP, "Backend records could not be created; it is retried."),
  UpdateBackendFailed: warning(GROUP, "Backend records could not be changed; it is retried."),
  DeleteBackendFailed: warning(GROUP, "Backend records could not be deleted; it is retried."),
  DeleteAllBackends: normal(["Bind"], "It is being deleted, so all its backends are deregistered."),
  GetLoadBalancerFailed: warning(GROUP, "A load balancer that it names does not exist, or cannot be looked up."),
  LoadBalancerNotCreated: normal(GROUP, "A load balancer that it names is not created yet."),
  LoadBalancerDeleting: normal(GROUP, "A load balancer that it names is being deleted: its backends leave."),
  OutOfScope: warning(["BackendGroup"], "A load balancer that it names does not serve this namespace."),
  BackendRefused: warning(GROUP, "The driver of a load balancer refuses the parameters."),
  InvalidSpec: warning(GROUP, "It names no load balancer, selects no backend, or has no port."),
  ServiceNotFound: warning(["BackendGroup"], "The Service that it names does not exist."),
  ServiceNotNodePort: warning(["BackendGroup"], "The Service that it names is not of type NodePort."),
  ServicePortNotFound: warning(["BackendGroup"], "The Service that it names has no such port with a node port."),
  Disagreement: warning(GROUP, "Backends missing from the watch still exist at the API server; they stay registered."),
  InvalidBrake: warning(GROUP, "The annotation that limits mass deregistration has a value that is not allowed."),
} as const;

const RECORDS = {
  SuccGenerateAddr: normal(RECORD, "The driver has returned the backend's address."),
  RunningGenerateAddr: normal(RECORD, "The driver has no address yet, and is called again."),
  FailedGenerateAddr: warning(RECORD, "The driver refused to return an address, or did not answer."),
  InvalidGenerateAddr: warning(RECORD, "The driver's answer with the address is not valid."),
  SuccEnsureBackend: normal(RECORD, "The backend is registered: for the first time, or after a change."),
  RunningEnsureBackend: normal(RECORD, "The driver has begun to register it, and is called again."),
  FailedEnsureBackend: warning(RECORD, "The driver refused to register it, or did not answer."),
  InvalidEnsureBackend: warning(RECORD, "The driver's answer to its registration is not valid."),
  RunningDeregister: normal(RECORD, "The driver has begun to deregister it, and is called again."),
  FailedDeregister: warning(RECORD, "The driver refused to deregister it, or did not answer."),
  InvalidDeregister: warning(RECORD, "The driver's answer to its deregistration is not valid."),
  DelayedEnsureBackend: normal(RECORD, "Another record with the same address is being deregistered first."),
  ForgottenBackend: warning(RECORD, "A user released it by hand: its address may still be registered."),
} as const;

/** Reasons of lbcf-azure about its pools; they appear in other events and in conditions. */
const POOLS = {
  PoolNotFound: warning(RECORD, "No event of its own: FailedEnsureBackend says that the pool no longer exists."),
  PoolOfInterfaces: warning(RECORD, "No event of its own: FailedEnsureBackend says that the pool holds interfaces."),
  PoolFull: warning(RECORD, "No event of its own: FailedEnsureBackend says that maxBackends is reached."),
  ForeignEntry: warning(RECORD, "No event: the condition Registered says that a foreign entry has the address."),
} as const;

/** By section title of the document. */
export const EVENT_GROUPS = {
  "Services: outcomes": OUTCOMES,
  "Services: refused until the cause is fixed": REFUSALS,
  "Services: warnings": REMARKS,
  "Admin state of nodes": ADMIN_STATES,
  "Nodes, by the agent": AGENT,
  "LBCF load balancers": LOAD_BALANCERS,
  "LBCF backend groups": GROUPS,
  "LBCF backend records": RECORDS,
  "lbcf-azure pools": POOLS,
} as const;

const EVENT_REASONS = {
  ...OUTCOMES,
  ...REFUSALS,
  ...REMARKS,
  ...ADMIN_STATES,
  ...AGENT,
  ...LOAD_BALANCERS,
  ...GROUPS,
  ...RECORDS,
  ...POOLS,
} as const;

export type EventReason = keyof typeof EVENT_REASONS;
export type WarningReason = {
  [Reason in EventReason]: (typeof EVENT_REASONS)[Reason]["type"] extends "Warning" ? Reason : never;
}[EventReason];

/** The text of an event, without its object. */
export interface EventText {
  readonly type: EventType;
  readonly reason: EventReason;
  readonly message: string;
}

/** The type follows from the reason. */
export function eventText(reason: EventReason, message: string): EventText {
  return { type: EVENT_REASONS[reason].type, reason, message };
}

function normal(on: readonly EventObject[], meaning: string): EventRow<"Normal"> {
  return { type: "Normal", on, meaning };
}

function warning(on: readonly EventObject[], meaning: string): EventRow<"Warning"> {
  return { type: "Warning", on, meaning };
}
