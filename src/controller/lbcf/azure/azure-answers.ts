/** The answers of `lbcf-azure`: the result of an Azure write, and a backend's address. */
import { describeFailure } from "../../../azure/arm/failure-text.ts";
import type { ArmBody, Committed, Retry } from "../../../azure/group-commit/commit-types.ts";
import { ArmError } from "../../../azure/arm/failures.ts";
import { canonicalAddress, parseAddress } from "../../../core/util/cidr.ts";
import { parseAzureAttributes } from "../../../core/lbcf/azure/azure-spec.ts";
import type { GeneratedAddress, Answer, UnfinishedAnswer } from "../../../core/lbcf/drivers/driver-answers.ts";
import type { BackendRecord } from "../../../core/lbcf/objects/objects.ts";
import { nameOfId } from "../../../core/model/ids.ts";
import { errorText } from "../../../core/util/text.ts";
import { isTold } from "../../service/next-attempt.ts";
import type { OnRetry } from "../drivers/driver.ts";

export const SUCC = { status: "Succ", msg: "" } as const;

/** The address without a port: an entry has none. Traffic arrives at a rule's backend port, so the backend's port must be one. */
export function addressOf(
  { spec: { backend, lbAttributes } }: BackendRecord,
  source: string,
): Answer<GeneratedAddress> {
  const ip = backend.kind === "Service" ? source.slice(0, source.lastIndexOf(":")) : source;
  if (parseAddress(ip) === undefined) {
    return { status: "Fail", msg: `"${ip}" is no IP address: lbcf-azure registers addresses without ports` };
  }
  const mistake = backend.kind === "Static" ? undefined : portMistake(backend, lbAttributes);
  return mistake === undefined ? { ...SUCC, backendAddr: canonicalAddress(ip) } : { status: "Fail", msg: mistake };
}

function portMistake(
  backend: Exclude<BackendRecord["spec"]["backend"], { kind: "Static" }>,
  lbAttributes: BackendRecord["spec"]["lbAttributes"],
): string | undefined {
  const attributes = parseAzureAttributes(lbAttributes);
  if ("mistake" in attributes || attributes.rules.length === 0) return undefined;
  const { protocol } = backend.port;
  const port = backend.kind === "Service" ? backend.nodePort : backend.port.port;
  if (attributes.rules.some((rule) => rule.backendPort === port && rule.protocol === protocol)) return undefined;
  return `port ${port}/${protocol} is the backend port of no rule (attributes.rules is "${lbAttributes["rules"]}")`;
}

export function answerOf(committed: Committed<ArmBody>, loadBalancer = ""): UnfinishedAnswer | typeof SUCC {
  switch (committed.kind) {
    case "written":
    case "deleted":
    case "unchanged":
      return SUCC;
    case "refused":
      return { status: "Fail", msg: committed.rejection.message };
    case "stale":
      return { status: "Fail", msg: `attributes.frontend names none of load balancer "${loadBalancer}"` };
    case "withdrawn":
      return { status: "Error", msg: "the write was withdrawn" };
    case "failed":
      return failed(committed.failure);
  }
}

function failed(failure: ArmError["failure"]): UnfinishedAnswer {
  const retryAfterMs = "retryAfterMs" in failure ? failure.retryAfterMs : undefined;
  const status = failure.kind === "invalid" || failure.kind === "quota" ? "Fail" : "Error";
  return {
    status,
    msg: describeFailure(failure, "the load balancer"),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** Reports the first failed attempt of a write that the user is told of; the answer tells if it fails for good. */
export function reportRetries(noun: string, id: string, report: OnRetry): { readonly onRetry: (retry: Retry) => void } {
  let isReported = false;
  return {
    onRetry: ({ failure, attempts, afterMs }) => {
      if (isReported || !isTold(failure, attempts - 1)) return;
      isReported = true;
      const why = describeFailure(failure, `${noun} "${nameOfId(id)}"`);
      report(`${why}${why.endsWith(".") ? "" : "."} Next try in ${Math.max(1, Math.round(afterMs / 1000))} s.`);
    },
  };
}

/** Turns an exception into an answer: a driver never throws. */
export async function asAnswer<Result extends object>(work: () => Promise<Answer<Result>>): Promise<Answer<Result>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ArmError) return failed(error.failure);
    return { status: "Error", msg: errorText(error) };
  }
}
