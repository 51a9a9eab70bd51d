/** The form of a law: it is told of everything that happens and reports what must not. */
import type { HistoryEntry } from "../../sandbox/kubernetes/model/contract.ts";
import type { ArmWrite } from "../environment/simulated-azure.ts";
import type { Process } from "../environment/timeline.ts";
import type { Leaving } from "../network/network.ts";

export interface Law {
  /** A write that Azure accepted, of a controller's process. */
  onOurWrite?(write: ArmWrite): void;
  /** A write that Azure accepted, of anybody else. */
  onOthersWrite?(write: ArmWrite): void;
  /** A write of a controller that Azure refused. */
  onRefused?(write: ArmWrite): void;
  /** Operations of Azure have ended. */
  onSettled?(): void;
  /** A change of the cluster, whoever made it. */
  onChange?(entry: HistoryEntry): void;
  /** A call leaves a controller's process. */
  onSend?(leaving: Leaving): void;
  /** A controller's process has been told of all changes of a collection up to that version. */
  onTold?(process: Process, collection: string, revision: number): void;
}

export interface Violation {
  readonly law: string;
  readonly what: string;
  readonly atMs: number;
}

export type Report = (law: string, what: string) => void;
