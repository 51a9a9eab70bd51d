/**
 * What every driver can be asked, whether it is a webhook server or built in. Nothing here throws: what goes wrong is
 * an answer. Registering and deregistering are idempotent.
 */
import type { JudgedPods } from "../../../core/lbcf/drivers/driver-answers.ts";
import type {
  GeneratedAddress,
  Answer,
  CreatedLoadBalancer,
  EnsuredBackend,
} from "../../../core/lbcf/drivers/driver-answers.ts";
import type { ValidationResult } from "../../../core/lbcf/drivers/driver-answers.ts";
import type { BackendRecord, LoadBalancer, Pod, StringMap } from "../../../core/lbcf/objects/objects.ts";
import type { BackendQuestion } from "../../../core/lbcf/drivers/webhook-protocol.ts";

export interface BackendDriver {
  /** Knows how to keep new connections away from a backend without cutting the old ones. */
  readonly canDrain: boolean;
  validateLoadBalancer(
    lb: LoadBalancer,
    operation: "Create" | "Update",
    oldAttributes: StringMap,
  ): Promise<ValidationResult>;
  createLoadBalancer(lb: LoadBalancer): Promise<Answer<CreatedLoadBalancer>>;
  ensureLoadBalancer(lb: LoadBalancer): Promise<Answer>;
  deleteLoadBalancer(lb: LoadBalancer): Promise<Answer>;
  validateBackend(question: BackendQuestion): Promise<ValidationResult>;
  /** Asked right before: the answer is made from what the pod or node has at that moment. */
  generateBackendAddr(record: BackendRecord, source: string): Promise<Answer<GeneratedAddress>>;
  ensureBackend(record: BackendRecord): Promise<Answer<EnsuredBackend>>;
  /** No new connections from now on. Never called where it cannot drain. */
  drainBackend(record: BackendRecord): Promise<Answer>;
  deregisterBackend(record: BackendRecord): Promise<Answer>;
  /** Which of these pods stay registered although they are not ready. */
  judgePodDeregister(pods: readonly Pod[]): Promise<JudgedPods>;
}
