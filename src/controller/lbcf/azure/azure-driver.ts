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
  type AzureAttributes,
  type Mistake,
  parametersMistake,
  parseAzureAttributes,
  parseAzureSpec,
} from "../../../core/lbcf/azure/azure-spec.ts";
import { type AzurePartsFragment, mergeAzureParts } from "../../../core/lbcf/azure/merge-azure-parts.ts";
import { type BackendChange, entryName } from "../../../core/lbcf/azure/merge-backends.ts";
import type { JudgedPods } from "../../../core/lbcf/drivers/driver-answers.ts";
import type {
  GeneratedAddress,
  Answer,
  CreatedLoadBalancer,
  EnsuredBackend,
  UnfinishedAnswer,
} from "../../../core/lbcf/drivers/driver-answers.ts";
import type { ValidationResult } from "../../../core/lbcf/drivers/driver-answers.ts";
import type { BackendRecord, LoadBalancer } from "../../../core/lbcf/objects/objects.ts";
import type { BackendQuestion } from "../../../core/lbcf/drivers/webhook-protocol.ts";
import type { LoadBalancerFragment } from "../../../core/resources/load-balancer/fragment.ts";
import { isManagedLoadBalancer, poolName } from "../../../core/model/names.ts";
import { mergePublicIP } from "../../../core/resources/public-ip/merge-public-ip.ts";
import { keyOf } from "../../../kube/client/resources.ts";
import { addressOf, answerOf, asAnswer, SUCC } from "./azure-answers.ts";
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

interface ParsedLoadBalancer {
  readonly key: string;
  readonly target: AzureTarget;
  readonly attributes: AzureAttributes;
}

export class AzureDriver implements BackendDriver {
  readonly canDrain: boolean;
  readonly #options: AzureDriverOptions;

  constructor(options: AzureDriverOptions) {
    this.#options = options;
    this.canDrain = options.config.enableAdminState;
  }

  validateLoadBalancer(lb: LoadBalancer): Promise<ValidationResult> {
    const parsed = this.#parse(lb);
    return Promise.resolve("mistake" in parsed ? { kind: "refused", message: parsed.mistake } : { kind: "valid" });
  }

  createLoadBalancer(lb: LoadBalancer): Promise<Answer<CreatedLoadBalancer>> {
    return asAnswer(async () => {
      const answer = await this.#write(lb);
      const parsed = this.#parse(lb);
      if (answer.status !== "Succ" || "mistake" in parsed) return answer as UnfinishedAnswer;
      const id = azureLoadBalancerId(this.#options.config, parsed.target);
      const pool = loadBalancerPartId(id, "backendAddressPools", parsed.target.pool);
      return { ...SUCC, lbInfo: { loadBalancer: id.toLowerCase(), pool: pool.toLowerCase() } };
    });
  }

  /** A frontend that is no longer public leaves its public IP behind. */
  ensureLoadBalancer(lb: LoadBalancer): Promise<Answer> {
    return asAnswer(async () => {
      const answer = await this.#write(lb);
      const parsed = this.#parse(lb);
      const isPublic = "mistake" in parsed || parsed.attributes.frontend?.kind === "public";
      return answer.status !== "Succ" || isPublic ? answer : this.#publicIP(parsed, "release");
    });
  }

  deleteLoadBalancer(lb: LoadBalancer): Promise<Answer> {
    return asAnswer(async () => {
      const parsed = this.#parse(lb);
      if ("mistake" in parsed) return SUCC; // it never stood for anything
      const leftPool = { name: parsed.target.pool, isOwn: parsed.target.isOwnPool };
      const parts = absentParts(parsed.key, this.#options.config);
      const answer = answerOf(await this.#commitParts(parsed, parts, leftPool, "delete"));
      return answer.status === "Succ" ? this.#publicIP(parsed, "release") : answer;
    });
  }

  validateBackend({ parameters }: BackendQuestion): Promise<ValidationResult> {
    const message = parametersMistake(parameters);
    return Promise.resolve(message === undefined ? { kind: "valid" } : { kind: "refused", message });
  }

  generateBackendAddr(record: BackendRecord, source: string): Promise<Answer<GeneratedAddress>> {
    return Promise.resolve(addressOf(record, source));
  }

  ensureBackend(record: BackendRecord): Promise<Answer<EnsuredBackend>> {
    return asAnswer(() => this.#ensure(record));
  }

  drainBackend(record: BackendRecord): Promise<Answer> {
    const states = new Map([[this.#entryOf(record).toLowerCase(), "Down" as const]]);
    return this.#changed(record, { kind: "states", states }, "drain");
  }

  deregisterBackend(record: BackendRecord): Promise<Answer> {
    return this.#changed(record, { kind: "absent", name: this.#entryOf(record) }, "delete");
  }

  async #ensure(record: BackendRecord): Promise<Answer<EnsuredBackend>> {
    const attributes = parseAzureAttributes(record.spec.lbAttributes);
    const change = {
      kind: "present" as const,
      name: this.#entryOf(record),
      ipAddress: record.status.backendAddr,
      adminState: () => this.#options.adminStateOf(record),
      atMost: "mistake" in attributes ? Number.MAX_SAFE_INTEGER : attributes.maxBackends,
    };
    const mistake = recordMistake(record, this.#options.config);
    if (mistake !== undefined) return { status: "Fail", msg: mistake };
    const committed = await this.#change(record, change, "create");
    const answer = answerOf(committed);
    if (answer.status !== "Succ") return answer;
    const [warning] = "warnings" in committed ? committed.warnings : [];
    return { ...SUCC, injectedInfo: {}, ...(warning && { reason: warning.reason, msg: warning.message }) };
  }

  /** It knows nothing of pods that Kubernetes does not. */
  judgePodDeregister(): Promise<JudgedPods> {
    return Promise.resolve({ kind: "failed", message: "lbcf-azure does not judge pods" });
  }

  #parse(lb: LoadBalancer): ParsedLoadBalancer | Mistake {
    const key = keyOf(lb);
    const target = parseAzureSpec(lb.spec.lbSpec, key, this.#options.config);
    if ("mistake" in target) return target;
    const attributes = parseAzureAttributes(lb.spec.attributes);
    return "mistake" in attributes ? attributes : { key, target, attributes };
  }

  /** The public IP comes before the frontend that needs it. */
  async #write(lb: LoadBalancer): Promise<Answer> {
    const parsed = this.#parse(lb);
    if ("mistake" in parsed) return { status: "Fail", msg: parsed.mistake };
    const { target, attributes } = parsed;
    const address = attributes.frontend?.kind === "public" ? await this.#publicIP(parsed, "use") : SUCC;
    if (address.status !== "Succ") return address;
    const parts = azureParts({ ...parsed, config: this.#options.config, zones: await this.#options.zones() });
    const committed = await this.#commitParts(parsed, parts, undefined, "create");
    if (committed.kind === "unchanged" && committed.body === null) {
      const fix = "create it, or set attributes.frontend to public or internal so that it can be made";
      return { status: "Fail", msg: `load balancer "${target.name}" does not exist: ${fix}` };
    }
    return answerOf(committed, target.name);
  }

  #commitParts(
    { target }: ParsedLoadBalancer,
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

  async #publicIP({ key }: ParsedLoadBalancer, action: "use" | "release"): Promise<Answer> {
    const { config } = this.#options;
    const zones = await this.#options.zones();
    const fragment = azurePublicIP(key, config, zones, action);
    const id = azurePublicIPId(key, config);
    const priority = action === "use" ? "create" : "delete";
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
    return asAnswer(async () => {
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
