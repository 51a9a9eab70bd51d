/**
 * The built-in driver `lbcf-azure`: LoadBalancers are Azure load balancers with a pool, backends are entries of that pool.
 * It writes through the same group commit as Services, so that both can live in one load balancer. An entry has no port
 * (that is the rule's), so several records of one address share one entry; who may take it out is decided by whoever
 * looks at the records.
 */
import type { Priority } from "../../../azure/budget/budget.ts";
import type { ArmBody, Committed, Merge } from "../../../azure/group-commit/commit-types.ts";
import type { GroupCommit } from "../../../azure/group-commit/group-commit.ts";
import type { AdminState } from "../../../core/model/arm.ts";
import type { OwnEntries } from "../../../core/resources/backend-pool/own-entries.ts";
import type { ClusterConfig } from "../../../core/config/cluster-config.ts";
import { loadBalancerPartId, virtualNetworkId } from "../../../core/model/ids.ts";
import {
  absentParts,
  azureLoadBalancerId,
  azureParts,
  azurePublicIP,
  azurePublicIPId,
} from "../../../core/lbcf/azure/azure-parts.ts";
import { poolOf, recordMistake } from "../../../core/lbcf/azure/azure-record.ts";
import {
  type AzureTarget,
  type AzureWish,
  type Mistake,
  parametersMistake,
  parseAzureAttributes,
  parseAzureSpec,
} from "../../../core/lbcf/azure/azure-spec.ts";
import { type AzurePartsFragment, mergeAzureParts } from "../../../core/lbcf/azure/merge-azure-parts.ts";
import { type BackendChange, entryName } from "../../../core/lbcf/azure/merge-backends.ts";
import type { Judgement } from "../../../core/lbcf/groups/candidates.ts";
import type { Addressed, Answer, Created, Ensured, NotYet } from "../../../core/lbcf/drivers/driver-answers.ts";
import type { Verdict } from "../../../core/lbcf/groups/load-balancer-use.ts";
import type { BackendRecord, LoadBalancer } from "../../../core/lbcf/objects/objects.ts";
import type { BackendQuestion } from "../../../core/lbcf/drivers/webhook-protocol.ts";
import type { LoadBalancerFragment } from "../../../core/resources/load-balancer/fragment.ts";
import { isManagedLoadBalancer, poolName } from "../../../core/model/names.ts";
import { mergePublicIP } from "../../../core/resources/public-ip/merge-public-ip.ts";
import { keyOf } from "../../../kube/client/resources.ts";
import { addressOf, answered, answerOf, DONE } from "./azure-answers.ts";
import type { BackendBatcher } from "./backend-batcher.ts";
import type { BackendDriver } from "../drivers/driver.ts";

export interface AzureDriverOptions {
  readonly config: ClusterConfig;
  readonly commit: GroupCommit;
  readonly batcher: BackendBatcher;
  /** The entries of a load balancer's pools that are the cluster's own, as `own-entries.ts` has it. */
  readonly clusterEntries: (loadBalancerId: string) => OwnEntries;
  /** Of the region; empty where it has none. */
  readonly zones: () => Promise<readonly string[]>;
  /** What the node of the backend asks for; `undefined`: not ours to decide. */
  readonly adminStateOf: (record: BackendRecord) => AdminState | undefined;
}

interface Place {
  readonly key: string;
  readonly target: AzureTarget;
  readonly wish: AzureWish;
}

export class AzureDriver implements BackendDriver {
  readonly canDrain: boolean;
  readonly #options: AzureDriverOptions;

  constructor(options: AzureDriverOptions) {
    this.#options = options;
    this.canDrain = options.config.enableAdminState;
  }

  validateLoadBalancer(lb: LoadBalancer): Promise<Verdict> {
    const place = this.#placeOf(lb);
    return Promise.resolve("mistake" in place ? { kind: "refused", message: place.mistake } : { kind: "valid" });
  }

  createLoadBalancer(lb: LoadBalancer): Promise<Answer<Created>> {
    return answered(async () => {
      const answer = await this.#write(lb);
      const place = this.#placeOf(lb);
      if (answer.status !== "Succ" || "mistake" in place) return answer as NotYet;
      const id = azureLoadBalancerId(this.#options.config, place.target);
      const pool = loadBalancerPartId(id, "backendAddressPools", place.target.pool);
      return { ...DONE, lbInfo: { loadBalancer: id.toLowerCase(), pool: pool.toLowerCase() } };
    });
  }

  /** A frontend that is no longer public leaves its public IP behind. */
  ensureLoadBalancer(lb: LoadBalancer): Promise<Answer> {
    return answered(async () => {
      const answer = await this.#write(lb);
      const place = this.#placeOf(lb);
      const isPublic = "mistake" in place || place.wish.frontend?.kind === "public";
      return answer.status !== "Succ" || isPublic ? answer : this.#publicIP(place, "release");
    });
  }

  deleteLoadBalancer(lb: LoadBalancer): Promise<Answer> {
    return answered(async () => {
      const place = this.#placeOf(lb);
      if ("mistake" in place) return DONE; // it never stood for anything
      const leftPool = { name: place.target.pool, isOwn: place.target.isOwnPool };
      const parts = absentParts(place.key, this.#options.config);
      const answer = answerOf(await this.#commitParts(place, parts, leftPool, "delete"));
      return answer.status === "Succ" ? this.#publicIP(place, "release") : answer;
    });
  }

  validateBackend({ parameters }: BackendQuestion): Promise<Verdict> {
    const message = parametersMistake(parameters);
    return Promise.resolve(message === undefined ? { kind: "valid" } : { kind: "refused", message });
  }

  generateBackendAddr(record: BackendRecord, source: string): Promise<Answer<Addressed>> {
    return Promise.resolve(addressOf(record, source));
  }

  ensureBackend(record: BackendRecord): Promise<Answer<Ensured>> {
    return answered(() => this.#ensure(record));
  }

  drainBackend(record: BackendRecord): Promise<Answer> {
    const states = new Map([[this.#entryOf(record).toLowerCase(), "Down" as const]]);
    return this.#changed(record, { kind: "states", states }, "drain");
  }

  deregisterBackend(record: BackendRecord): Promise<Answer> {
    return this.#changed(record, { kind: "absent", name: this.#entryOf(record) }, "delete");
  }

  async #ensure(record: BackendRecord): Promise<Answer<Ensured>> {
    const wish = parseAzureAttributes(record.spec.lbAttributes);
    const change = {
      kind: "present" as const,
      name: this.#entryOf(record),
      ipAddress: record.status.backendAddr,
      adminState: () => this.#options.adminStateOf(record),
      atMost: "mistake" in wish ? Number.MAX_SAFE_INTEGER : wish.maxBackends,
    };
    const mistake = recordMistake(record, this.#options.config);
    if (mistake !== undefined) return { status: "Fail", msg: mistake };
    const committed = await this.#change(record, change, "create");
    const answer = answerOf(committed);
    if (answer.status !== "Succ") return answer;
    const [warning] = "warnings" in committed ? committed.warnings : [];
    return { ...DONE, injectedInfo: {}, ...(warning && { reason: warning.reason, msg: warning.message }) };
  }

  /** It knows nothing of pods that Kubernetes does not. */
  judgePodDeregister(): Promise<Judgement> {
    return Promise.resolve({ kind: "failed", message: "lbcf-azure does not judge pods" });
  }

  #placeOf(lb: LoadBalancer): Place | Mistake {
    const key = keyOf(lb);
    const target = parseAzureSpec(lb.spec.lbSpec, key, this.#options.config);
    if ("mistake" in target) return target;
    const wish = parseAzureAttributes(lb.spec.attributes);
    return "mistake" in wish ? wish : { key, target, wish };
  }

  /** The public IP comes before the frontend that needs it. */
  async #write(lb: LoadBalancer): Promise<Answer> {
    const place = this.#placeOf(lb);
    if ("mistake" in place) return { status: "Fail", msg: place.mistake };
    const { target, wish } = place;
    const address = wish.frontend?.kind === "public" ? await this.#publicIP(place, "use") : DONE;
    if (address.status !== "Succ") return address;
    const parts = azureParts({ ...place, config: this.#options.config, zones: await this.#options.zones() });
    const committed = await this.#commitParts(place, parts, undefined, "create");
    if (committed.kind === "unchanged" && committed.body === null) {
      const fix = "create it, or set attributes.frontend to public or internal so that it can be made";
      return { status: "Fail", msg: `load balancer "${target.name}" does not exist: ${fix}` };
    }
    return answerOf(committed, target.name);
  }

  #commitParts(
    { target }: Place,
    parts: LoadBalancerFragment,
    leftPool: AzurePartsFragment["leftPool"],
    priority: Priority,
  ): Promise<Committed<ArmBody>> {
    const { config, clusterEntries } = this.#options;
    const id = azureLoadBalancerId(config, target);
    const pools = (["IPv4", "IPv6"] as const).map((family) => poolName(config.clusterName, family));
    const cluster = { pools, entries: clusterEntries(id) };
    const isClusters = isManagedLoadBalancer(target.name, config, []);
    const fragment = { parts, leftPool, cluster, isClusters };
    return this.#submit(id, "lbcf-parts", parts.owner.key, fragment, mergeAzureParts, priority);
  }

  async #publicIP({ key }: Place, wish: "use" | "release"): Promise<Answer> {
    const { config } = this.#options;
    const zones = await this.#options.zones();
    const fragment = azurePublicIP(key, config, zones, wish);
    const id = azurePublicIPId(key, config);
    const priority = wish === "use" ? "create" : "delete";
    return answerOf(await this.#submit(id, "publicIP", fragment.owner.key, fragment, mergePublicIP, priority));
  }

  /** A load balancer's own parts are always compared with Azure itself: it is asked for rarely, and edited by hand. */
  async #submit<Body extends ArmBody, Fragment>(
    id: string,
    kind: string,
    owner: string,
    fragment: Fragment,
    merge: Merge<Body, Fragment>,
    priority: Priority,
  ): Promise<Committed<ArmBody>> {
    return this.#options.commit.submit({ id, kind, owner, fragment, merge, priority, afresh: true });
  }

  #changed(record: BackendRecord, change: BackendChange["change"], priority: Priority): Promise<Answer> {
    return answered(async () => {
      const mistake = recordMistake(record, this.#options.config);
      if (mistake !== undefined) return { status: "Fail", msg: mistake };
      return answerOf(await this.#change(record, change, priority));
    });
  }

  #change(record: BackendRecord, change: BackendChange["change"], priority: Priority): Promise<Committed<ArmBody>> {
    const { config, batcher } = this.#options;
    return batcher.submit({
      poolId: poolOf(record),
      change: { owner: record.metadata.uid, virtualNetworkId: virtualNetworkId(config), change },
      priority,
      afresh: record.spec.ensurePolicy.policy === "Always",
    });
  }

  #entryOf(record: BackendRecord): string {
    return entryName(this.#options.config.clusterName, poolOf(record), record.status.backendAddr);
  }
}
