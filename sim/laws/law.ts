/** The interface of a law: it is notified of everything that happens and reports violations. */
import type { HistoryEntry } from "../../sandbox/kubernetes/model/contract.ts";
import type { ArmWrite } from "../environment/simulated-azure.ts";
import type { Process } from "../environment/timeline.ts";
import type { Fault } from "../network/faults.ts";
import type { OutgoingCall } from "../network/network.ts";

export interface Law {
  /** Azure accepted a write by a controller process. */
  onOurWrite?(write: ArmWrite): void;
  /** Azure accepted a write by another client. */
  onOthersWrite?(write: ArmWrite): void;
  /** Azure refused a write by a controller process. */
  onRefused?(write: ArmWrite): void;
  /** Operations in Azure have ended. */
  onSettled?(): void;
  /** An object of the cluster changed. */
  onChange?(entry: HistoryEntry): void;
  /** A controller process sends a call. */
  onSend?(call: OutgoingCall): void;
  /** A fault affects a call of a controller process. */
  onFault?(call: OutgoingCall, fault: Fault): void;
  /** A controller process has received all changes of a collection up to that revision. */
  onDelivered?(process: Process, collection: string, revision: number): void;
}

export interface Violation {
  readonly law: string;
  readonly what: string;
  readonly atMs: number;
}

export type Report = (law: string, what: string) => void;
