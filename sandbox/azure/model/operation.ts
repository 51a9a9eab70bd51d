/** A long-running operation as stored. */

/** An injected failure of an operation. It makes a synchronous request asynchronous. */
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
  /** The GUID in its URLs, and the `x-ms-request-id` of the request that started it. */
  readonly id: string;
  /** As Azure names it in messages: `PutLoadBalancerOperation`. */
  readonly name: string;
  readonly subscription: string;
  readonly provider: "Microsoft.Network" | "Microsoft.Compute" | "Microsoft.Resources";
  readonly location: string;
  /** Key of its resource. */
  readonly key: string;
  /** Effect of its success: the resource becomes Succeeded, is removed, has its pools migrated, or nothing changes. */
  readonly effect: "provision" | "drop" | "migrate" | "none";
  /** Names of the pools that `migrate` turns into IP pools. */
  readonly pools?: readonly string[];
  /** Keys of resources that become Succeeded with it. */
  readonly companions?: readonly string[];
  /** Keys that other requests cannot write meanwhile, including its own. */
  readonly locks: readonly string[];
  readonly startMs: number;
  readonly endMs: number;
  readonly status: "InProgress" | "Succeeded" | "Failed" | "Canceled";
  readonly error?: OperationError;
  /** Its injected failure, if any. */
  readonly fate?: OperationFate;
  readonly retryAfterSeconds?: number;
  /** The body of its result URL after success; absent where that is the resource or empty. */
  readonly result?: unknown;
}
