/**
 * Azure's error responses. The verbs and types throw them, `decide` turns them into responses; a refused request changes
 * nothing.
 *
 *   source    | shape                                     | header
 *   ----------|-------------------------------------------|----------------------------
 *   gateway   | code, message                             | x-ms-failure-cause: gateway
 *   network   | code, message, details (always, often []) | –
 *   compute   | code, message                             | –
 */
import type { ArmResponse } from "./contract.ts";
import type { OperationError } from "./operation.ts";

export type ErrorSource = "gateway" | "network" | "compute";

export class ArmError extends Error {
  readonly source: ErrorSource;
  readonly status: number;
  readonly code: string;
  readonly details: OperationError["details"];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    source: ErrorSource,
    status: number,
    error: OperationError,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(error.message);
    this.source = source;
    this.status = status;
    this.code = error.code;
    this.details = error.details;
    this.headers = headers;
  }

  toResponse(): ArmResponse {
    const details = this.source === "network" ? { details: this.details ?? [] } : {};
    const cause = this.source === "gateway" ? { "x-ms-failure-cause": "gateway" } : {};
    return {
      status: this.status,
      headers: { ...cause, ...this.headers },
      body: { error: { code: this.code, message: this.message, ...details } },
    };
  }
}

/** An error of the ARM gateway. */
export function gateway(status: number, code: string, message: string): ArmError {
  return new ArmError("gateway", status, { code, message });
}

/** A validation error of the network provider. */
export function invalid(code: string, message: string, details?: OperationError["details"]): ArmError {
  return new ArmError("network", 400, { code, message, ...(details && { details }) });
}

/** A body that the network provider cannot read; the detail says where. */
export function unreadable(code: string, message: string): ArmError {
  return invalid("InvalidRequestFormat", "Cannot parse the request.", [{ code, message }]);
}

export function compute(status: number, code: string, message: string): ArmError {
  return new ArmError("compute", status, { code, message });
}

/** The network provider's "not now": 429, and no throttling. */
export function retryable(code: string, message: string, afterSeconds: number): ArmError {
  const error = { code: "RetryableError", message: "A retryable error occurred.", details: [{ code, message }] };
  return new ArmError("network", 429, error, { "retry-after": String(afterSeconds) });
}

export function resourceNotFound(type: string, name: string, group: string): ArmError {
  return gateway(
    404,
    "ResourceNotFound",
    `The Resource '${type}/${name}' under resource group '${group}' was not found. ` +
      "For more details please go to https://aka.ms/ARMResourceNotFoundFix",
  );
}

export function groupNotFound(group: string): ArmError {
  return gateway(404, "ResourceGroupNotFound", `Resource group '${group}' could not be found.`);
}

export function childNotFound(id: string): ArmError {
  return new ArmError("network", 404, { code: "NotFound", message: `Resource ${id} not found.` });
}

export function referenceNotFound(target: string, owner: string): ArmError {
  return invalid(
    "InvalidResourceReference",
    `Resource ${target} referenced by resource ${owner} was not found. Please make sure that the referenced ` +
      "resource exists, and that both resources are in the same region.",
  );
}
