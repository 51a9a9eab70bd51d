/**
 * Refusals: what Azure says no with. Thrown by whatever finds the fault, turned into a response in one place;
 * a refused request changes nothing.
 *
 *   made by   | shape                                     | header
 *   ----------|-------------------------------------------|----------------------------
 *   gateway   | code, message                             | x-ms-failure-cause: gateway
 *   network   | code, message, details (always, often []) | –
 *   compute   | code, message                             | –
 */
import type { ArmResponse } from "./contract.ts";
import type { OperationError } from "./operation.ts";

export type Maker = "gateway" | "network" | "compute";

export class Refusal extends Error {
  readonly maker: Maker;
  readonly status: number;
  readonly code: string;
  readonly details: OperationError["details"];
  readonly headers: Readonly<Record<string, string>>;

  constructor(maker: Maker, status: number, error: OperationError, headers: Readonly<Record<string, string>> = {}) {
    super(error.message);
    this.maker = maker;
    this.status = status;
    this.code = error.code;
    this.details = error.details;
    this.headers = headers;
  }

  toResponse(): ArmResponse {
    const details = this.maker === "network" ? { details: this.details ?? [] } : {};
    const cause = this.maker === "gateway" ? { "x-ms-failure-cause": "gateway" } : {};
    return {
      status: this.status,
      headers: { ...cause, ...this.headers },
      body: { error: { code: this.code, message: this.message, ...details } },
    };
  }
}

/** An error of ARM's front door. */
export function gateway(status: number, code: string, message: string): Refusal {
  return new Refusal("gateway", status, { code, message });
}

/** A validation error of the network provider. */
export function invalid(code: string, message: string, details?: OperationError["details"]): Refusal {
  return new Refusal("network", 400, { code, message, ...(details && { details }) });
}

/** A body that the network provider cannot read; the detail says where. */
export function unreadable(code: string, message: string): Refusal {
  return invalid("InvalidRequestFormat", "Cannot parse the request.", [{ code, message }]);
}

export function compute(status: number, code: string, message: string): Refusal {
  return new Refusal("compute", status, { code, message });
}

/** The network provider's "not now": 429, and no throttling. */
export function retryable(code: string, message: string, afterSeconds: number): Refusal {
  const error = { code: "RetryableError", message: "A retryable error occurred.", details: [{ code, message }] };
  return new Refusal("network", 429, error, { "retry-after": String(afterSeconds) });
}

export function resourceNotFound(type: string, name: string, group: string): Refusal {
  return gateway(
    404,
    "ResourceNotFound",
    `The Resource '${type}/${name}' under resource group '${group}' was not found. ` +
      "For more details please go to https://aka.ms/ARMResourceNotFoundFix",
  );
}

export function groupNotFound(group: string): Refusal {
  return gateway(404, "ResourceGroupNotFound", `Resource group '${group}' could not be found.`);
}

export function childNotFound(id: string): Refusal {
  return new Refusal("network", 404, { code: "NotFound", message: `Resource ${id} not found.` });
}

export function referenceNotFound(target: string, owner: string): Refusal {
  return invalid(
    "InvalidResourceReference",
    `Resource ${target} referenced by resource ${owner} was not found. Please make sure that the referenced ` +
      "resource exists, and that both resources are in the same region.",
  );
}
