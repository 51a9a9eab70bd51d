/**
 * The load balancers inside a Bind as LoadBalancers, so that `reconcile-load-balancer-object.ts` decides for both. One
 * that was removed from the Bind's spec, or whose Bind is being deleted, is a LoadBalancer that is being deleted. A
 * Bind's condition `Ready` corresponds to `AttributesSynced`, and it has reasons of its own.
 */
import { isTrue, timestamp } from "../objects/conditions.ts";
import { FINALIZER } from "../objects/names.ts";
import type {
  Bind,
  BindLoadBalancerStatus,
  Condition,
  LoadBalancer,
  LoadBalancerStatus,
  Meta,
} from "../objects/objects.ts";
import { isBeingDeleted } from "../objects/references.ts";

/** Those of the spec, then those that were removed from it and still have a status. */
export function loadBalancersOf(bind: Bind, nowMs: number): LoadBalancer[] {
  const wanted = bind.spec.loadBalancers.map(({ name }) => name);
  const left = bind.status.loadBalancerStatuses.map(({ name }) => name).filter((name) => !wanted.includes(name));
  return [...wanted, ...left].flatMap((name) => loadBalancerOf(bind, name, nowMs) ?? []);
}

/** `undefined` when the Bind has none of that name. */
export function loadBalancerOf(bind: Bind, name: string, nowMs: number): LoadBalancer | undefined {
  const wanted = bind.spec.loadBalancers.find((each) => each.name === name);
  const stored = bind.status.loadBalancerStatuses.find((each) => each.name === name);
  if (wanted === undefined && stored === undefined) return undefined;
  if (stored === undefined && isBeingDeleted(bind.metadata)) return undefined;
  return {
    metadata: metaOf(bind, name, wanted === undefined ? (stored?.deletionTimestamp ?? timestamp(nowMs)) : undefined),
    spec: {
      lbDriver: wanted?.driver ?? stored?.driver ?? "",
      lbSpec: wanted?.spec ?? stored?.spec ?? {},
      attributes: wanted?.attributes ?? stored?.lastSyncedAttributes ?? {},
      scope: [],
      ensurePolicy: { policy: "IfNotSucc" },
    },
    status: stored === undefined ? { conditions: [] } : statusIn(stored),
  };
}

/**
 * Drops the Bind's own fields. The deletion timestamp is among them: it ends when the spec names the load balancer again. Attributes
 * that are none are not stored (`withLoadBalancerStatus`), so that one which is created and has none was synced with none.
 */
function statusIn(stored: BindLoadBalancerStatus): LoadBalancerStatus {
  const { name: _name, driver: _driver, spec: _spec, deletionTimestamp: _leftAt, conditions, ...status } = stored;
  const synced = isTrue(conditions, "Created") && { lastSyncedAttributes: {} };
  return { ...synced, ...status, conditions: conditions.map(fromBind) };
}

/** One removed from the spec is deleted whatever labels the Bind has; the others are deleted with the Bind. */
function metaOf({ metadata }: Bind, name: string, leftAt: string | undefined): Meta {
  const { labels, deletionTimestamp, ...rest } = metadata;
  const deletion = leftAt ?? deletionTimestamp;
  return {
    ...rest,
    name: `${metadata.name}/${name}`,
    uid: `${metadata.uid}-${name}`,
    finalizers: [FINALIZER.loadBalancer],
    ...(deletion !== undefined && { deletionTimestamp: deletion }),
    ...(leftAt === undefined && labels !== undefined && { labels }),
  };
}

/** The load balancer's name within the Bind. */
export function nameInBind({ metadata: { name } }: LoadBalancer): string {
  return name.slice(name.indexOf("/") + 1);
}

/** An empty map of attributes is left out, as LBCF does it, which copies the map to its records: an empty one differs from none. */
export function withLoadBalancerStatus(bind: Bind, lb: LoadBalancer, status: LoadBalancerStatus): Bind {
  const name = nameInBind(lb);
  const { lastSyncedAttributes: synced = {}, ...rest } = status;
  const entry: BindLoadBalancerStatus = {
    ...rest,
    ...(Object.keys(synced).length > 0 && { lastSyncedAttributes: synced }),
    name,
    driver: lb.spec.lbDriver,
    spec: lb.spec.lbSpec,
    conditions: status.conditions.map(toBind),
    ...(lb.metadata.deletionTimestamp !== undefined && { deletionTimestamp: lb.metadata.deletionTimestamp }),
  };
  const others = bind.status.loadBalancerStatuses.filter((each) => each.name !== name);
  return { ...bind, status: { ...bind.status, loadBalancerStatuses: [...others, entry] } };
}

export function withoutLoadBalancer(bind: Bind, lb: LoadBalancer): Bind {
  const loadBalancerStatuses = bind.status.loadBalancerStatuses.filter(({ name }) => name !== nameInBind(lb));
  return { ...bind, status: { ...bind.status, loadBalancerStatuses } };
}

function fromBind(condition: Condition): Condition {
  return condition.type === "Ready" ? { ...condition, type: "AttributesSynced" } : condition;
}

const REASONS: Readonly<Record<string, string>> = {
  "Created OperationFailed": "CreateFailed",
  "AttributesSynced OperationFailed": "EnsureFailed",
  "Created DriverError": "WebhookError",
  "AttributesSynced DriverError": "WebhookError",
};

function toBind(condition: Condition): Condition {
  const reason = REASONS[`${condition.type} ${condition.reason}`] ?? condition.reason;
  const type = condition.type === "AttributesSynced" ? "Ready" : condition.type;
  return { ...condition, type, ...(reason !== undefined && { reason }) };
}
