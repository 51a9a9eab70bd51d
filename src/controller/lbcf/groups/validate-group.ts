/** Asks the driver of one load balancer to validate a group's parameters. */
import type { ValidationResult } from "../../../core/lbcf/drivers/driver-answers.ts";
import { acceptanceOf, parametersKey, parametersOf } from "../../../core/lbcf/groups/load-balancer-use.ts";
import type { BackendGroup, LoadBalancer } from "../../../core/lbcf/objects/objects.ts";
import type { Drivers } from "../drivers/drivers.ts";
import type { ValidationMemo } from "../drivers/validation-memo.ts";

export interface ValidateGroupOptions {
  readonly drivers: Drivers;
  readonly validations: ValidationMemo;
}

/** `name`: the load balancer as the group names it. */
export async function validateGroup(
  group: BackendGroup,
  name: string,
  loadBalancer: LoadBalancer,
  { drivers, validations }: ValidateGroupOptions,
): Promise<ValidationResult> {
  const { lbDriver, lbSpec } = loadBalancer.spec;
  const { namespace } = loadBalancer.metadata;
  const driver = drivers.of(lbDriver, namespace);
  if (driver === undefined) return { kind: "failed", message: "the driver does not exist" };
  const before = acceptanceOf(group, name);
  const isUpdate = before?.accepted === true;
  const question = {
    backendType: group.spec.backends.kind,
    lbInfo: loadBalancer.status.lbInfo ?? lbSpec,
    operation: isUpdate ? "Update" : "Create",
    parameters: group.spec.parameters,
    oldParameters: isUpdate ? parametersOf(before.parameters ?? "") : {},
  } as const;
  const subject = { uid: `${group.metadata.uid} ${name}`, namespace };
  const parts = [parametersKey(group), question.lbInfo, question.oldParameters];
  return validations.of(drivers.question(subject, lbDriver, parts), () => driver.validateBackend(question));
}
