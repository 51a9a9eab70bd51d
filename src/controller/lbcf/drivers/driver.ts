/**
 * The interface of drivers, webhook servers and the built-in one alike. No method throws: failures are answers.
 * Registering and deregistering are idempotent.
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

/** An attempt failed that the driver itself repeats before it answers: why, and when. */
export type OnRetry = (message: string) => void;

export interface BackendDriver {
  /** The driver can stop new connections to a backend without cutting existing ones. */
  readonly canDrain: boolean;
  validateLoadBalancer(
    lb: LoadBalancer,
    operation: "Create" | "Update",
    oldAttributes: StringMap,
  ): Promise<ValidationResult>;
  createLoadBalancer(lb: LoadBalancer, onRetry: OnRetry): Promise<Answer<CreatedLoadBalancer>>;
  ensureLoadBalancer(lb: LoadBalancer, onRetry: OnRetry): Promise<Answer>;
  deleteLoadBalancer(lb: LoadBalancer, onRetry: OnRetry): Promise<Answer>;
  validateBackend(question: BackendQuestion): Promise<ValidationResult>;
  /** `source`: what the address is generated from, see `backend-state.ts`. */
  generateBackendAddr(record: BackendRecord, source: string): Promise<Answer<GeneratedAddress>>;
  ensureBackend(record: BackendRecord): Promise<Answer<EnsuredBackend>>;
  /** Stops new connections. Called only when `canDrain`. */
  drainBackend(record: BackendRecord): Promise<Answer>;
  deregisterBackend(record: BackendRecord): Promise<Answer>;
  /** Which of these pods, none of them ready, stay registered. */
  judgePodDeregister(pods: readonly Pod[]): Promise<JudgedPods>;
}
