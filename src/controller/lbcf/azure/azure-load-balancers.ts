/**
 * The Azure load balancers of LBCF's LoadBalancers: parses lbSpec and attributes, and writes frontend, rules, probes, pool
 * and public IP through the group commit that Services use, so that both can share a load balancer. What is written is
 * decided in `azure-parts.ts` and `merge-azure-parts.ts`; the pool's entries are `azure-driver.ts`'s.
 */
import { namespaceOfKey } from "../../../core/model/kubernetes.ts";
import type { Priority } from "../../../azure/budget/limits.ts";
import type { ArmBody, Committed } from "../../../azure/group-commit/commit-types.ts";
import type { GroupCommit } from "../../../azure/group-commit/group-commit.ts";
import { WriteKind } from "../../../azure/group-commit/write-kind.ts";
import type { ClusterConfig } from "../../../core/config/cluster-config.ts";
import {
  type AzureClaim,
  azureClaim,
  claimConflict,
  sharedBy,
  type ServiceByBase,
} from "../../../core/lbcf/azure/azure-claims.ts";
import { absentParts, azureLoadBalancerId, azureParts } from "../../../core/lbcf/azure/azure-parts.ts";
import { azurePublicIP, azurePublicIPId } from "../../../core/lbcf/azure/azure-public-ip.ts";
import {
  type AzureAttributes,
  type AzureTarget,
  type Mistake,
  parseAzureAttributes,
  parseAzureSpec,
} from "../../../core/lbcf/azure/azure-spec.ts";
import { type AzurePartsFragment, mergeAzureParts } from "../../../core/lbcf/azure/merge-azure-parts.ts";
import type {
  Answer,
  CreatedLoadBalancer,
  UnfinishedAnswer,
  ValidationResult,
} from "../../../core/lbcf/drivers/driver-answers.ts";
import type { LoadBalancer } from "../../../core/lbcf/objects/objects.ts";
import { loadBalancerPartId } from "../../../core/model/ids.ts";
import { isManagedLoadBalancer, poolName } from "../../../core/model/names.ts";
import type { OwnEntries } from "../../../core/resources/backend-pool/desired-backend-pool.ts";
import type { LoadBalancerFragment } from "../../../core/resources/load-balancer/fragment.ts";
import { KINDS } from "../../../core/resources/kinds.ts";
import { keyOf } from "../../../kube/client/resources.ts";
import type { OnRetry } from "../drivers/driver.ts";
import { answerOf, asAnswer, reportRetries, SUCC } from "./azure-answers.ts";

const AZURE_PARTS = new WriteKind("lbcf-parts", mergeAzureParts);
const PUBLIC_IP = new WriteKind(KINDS.publicIP.metricLabel, KINDS.publicIP.merge);
/** These writes are rare, and users edit load balancers by hand: Azure is always read first. */
const READ_FIRST = { readFirst: true } as const;

export interface AzureLoadBalancersOptions {
  readonly config: ClusterConfig;
  readonly commit: GroupCommit;
  /** The entries of a load balancer's pools that are the cluster's own, as `desired-backend-pool.ts` defines them. */
  readonly clusterEntries: (loadBalancerId: string) => OwnEntries;
  /** The pools and frontends that all LoadBalancers claim. */
  readonly claims: () => readonly AzureClaim[];
  readonly serviceOf: ServiceByBase;
  /** The region's zones; empty when it has none. */
  readonly zones: () => Promise<readonly string[]>;
}

interface ParsedLoadBalancer {
  readonly key: string;
  readonly target: AzureTarget;
  readonly attributes: AzureAttributes;
}

interface AskedLoadBalancer extends ParsedLoadBalancer {
  readonly onRetry: OnRetry;
}

export class AzureLoadBalancers {
  readonly #options: AzureLoadBalancersOptions;

  constructor(options: AzureLoadBalancersOptions) {
    this.#options = options;
  }

  validate(lb: LoadBalancer): Promise<ValidationResult> {
    const allowed = this.#allowed(lb);
    return Promise.resolve("mistake" in allowed ? { kind: "refused", message: allowed.mistake } : { kind: "valid" });
  }

  create(lb: LoadBalancer, onRetry: OnRetry): Promise<Answer<CreatedLoadBalancer>> {
    return asAnswer(async () => {
      const answer = await this.#write(lb, onRetry);
      const parsed = this.#parse(lb);
      if (answer.status !== "Succ" || "mistake" in parsed) return answer as UnfinishedAnswer;
      const id = azureLoadBalancerId(this.#options.config, parsed.target);
      const pool = loadBalancerPartId(id, "backendAddressPools", parsed.target.pool);
      const claim = azureClaim(lb, parsed.key, this.#options.config);
      const shared = claim && sharedBy(claim, this.#options.claims());
      return { ...SUCC, lbInfo: { loadBalancer: id.toLowerCase(), pool: pool.toLowerCase(), ...shared } };
    });
  }

  /** Also deletes the public IP of a frontend that is no longer public. */
  ensure(lb: LoadBalancer, onRetry: OnRetry): Promise<Answer> {
    return asAnswer(async () => {
      const answer = await this.#write(lb, onRetry);
      const parsed = this.#parse(lb);
      const isPublic = "mistake" in parsed || parsed.attributes.frontend?.kind === "public";
      return answer.status !== "Succ" || isPublic ? answer : this.#publicIP({ ...parsed, onRetry }, "release");
    });
  }

  delete(lb: LoadBalancer, onRetry: OnRetry): Promise<Answer> {
    return asAnswer(async () => {
      const parsed = this.#parse(lb);
      if ("mistake" in parsed) return SUCC; // nothing was ever created for it
      const asked = { ...parsed, onRetry };
      const leftPool = { name: parsed.target.pool, isOwn: parsed.target.isOwnPool };
      const parts = absentParts(parsed.key, this.#options.config);
      const answer = answerOf(await this.#commitParts(asked, parts, leftPool, "delete"));
      return answer.status === "Succ" ? this.#publicIP(asked, "release") : answer;
    });
  }

  #parse(lb: LoadBalancer): ParsedLoadBalancer | Mistake {
    const key = keyOf(lb);
    const target = parseAzureSpec(lb.spec.lbSpec, key, this.#options.config);
    if ("mistake" in target) return target;
    const attributes = parseAzureAttributes(lb.spec.attributes);
    return "mistake" in attributes ? attributes : { key, target, attributes };
  }

  /** Also refuses what another namespace or a Service has and does not share. */
  #allowed(lb: LoadBalancer): ParsedLoadBalancer | Mistake {
    const parsed = this.#parse(lb);
    if ("mistake" in parsed) return parsed;
    const claim = azureClaim(lb, parsed.key, this.#options.config);
    const mistake = claim && claimConflict(claim, this.#options.claims(), this.#options.serviceOf);
    return mistake === undefined ? parsed : { mistake };
  }

  /** The public IP is written before the frontend that refers to it. */
  async #write(lb: LoadBalancer, onRetry: OnRetry): Promise<Answer> {
    const parsed = this.#allowed(lb);
    if ("mistake" in parsed) return { status: "Fail", msg: parsed.mistake };
    const { target, attributes } = parsed;
    const asked = { ...parsed, onRetry };
    const address = attributes.frontend?.kind === "public" ? await this.#publicIP(asked, "use") : SUCC;
    if (address.status !== "Succ") return address;
    const parts = azureParts({ ...parsed, config: this.#options.config, zones: await this.#options.zones() });
    const committed = await this.#commitParts(asked, parts, undefined, "create");
    if (committed.kind === "unchanged" && committed.body === null) {
      const fix = "create it, or set attributes.frontend to public or internal so that it can be made";
      return { status: "Fail", msg: `load balancer "${target.name}" does not exist: ${fix}` };
    }
    return answerOf(committed, target.name);
  }

  #commitParts(
    { key, target, onRetry }: AskedLoadBalancer,
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
    const namespace = namespaceOfKey(key);
    const write = { id, kind: AZURE_PARTS, fragment, dedupKey: parts.owner.key, priority, namespace };
    const retries = reportRetries(KINDS.loadBalancer.noun, id, onRetry);
    return this.#options.commit.submit({ ...write, ...READ_FIRST, ...retries });
  }

  async #publicIP({ key, onRetry }: AskedLoadBalancer, action: "use" | "release"): Promise<Answer> {
    const { config } = this.#options;
    const zones = await this.#options.zones();
    const fragment = azurePublicIP(key, config, zones, action);
    const id = azurePublicIPId(key, config);
    const priority = action === "use" ? "create" : "delete";
    const namespace = namespaceOfKey(key);
    const write = { id, kind: PUBLIC_IP, fragment, dedupKey: fragment.owner.key, priority, namespace } as const;
    const retries = reportRetries(KINDS.publicIP.noun, id, onRetry);
    return answerOf(await this.#options.commit.submit({ ...write, ...READ_FIRST, ...retries }));
  }
}
