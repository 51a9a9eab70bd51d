/** A long-running operation: what was accepted, until when it runs, and how it ends. */

/** How an operation ends other than well. A request that would have been synchronous becomes asynchronous. */
export interface OperationFate {
  readonly status: "Failed" | "Canceled";
  readonly code: string;
  readonly message: string;
  readonly details?: readonly { readonly code: string; readonly message: string }[];
}

export interface OperationError {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly { readonly code: string; readonly message: string }[];
}

export interface Operation {
  /** The GUID in its URLs, and the `x-ms-request-id` of the request that began it. */
  readonly id: string;
  /** As Azure names it in messages: `PutLoadBalancerOperation`. */
  readonly name: string;
  readonly subscription: string;
  readonly provider: "Microsoft.Network" | "Microsoft.Compute" | "Microsoft.Resources";
  readonly location: string;
  /** Key of the resource that it works on. */
  readonly key: string;
  /** What its end brings: the resource becomes Succeeded, is dropped, has pools migrated, or nothing changes. */
  readonly effect: "provision" | "drop" | "migrate" | "none";
  /** Names of the pools that `migrate` turns into pools of addresses. */
  readonly pools?: readonly string[];
  /** Keys of resources that become Succeeded with it. */
  readonly companions?: readonly string[];
  /** Every key that others may not write meanwhile, its own included. */
  readonly locks: readonly string[];
  readonly startMs: number;
  readonly endMs: number;
  readonly status: "InProgress" | "Succeeded" | "Failed" | "Canceled";
  readonly error?: OperationError;
  /** How it will end if not well. */
  readonly fate?: OperationFate;
  readonly retryAfterSeconds?: number;
  /** What its result URL answers once it succeeded; absent where that is the resource, or nothing. */
  readonly result?: unknown;
}
