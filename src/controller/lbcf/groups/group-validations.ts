/** Asks drivers to validate a group's parameters, and remembers refusals for a while. */
import type { ValidationResult } from "../../../core/lbcf/drivers/driver-answers.ts";
import { acceptanceOf, parametersKey, parametersOf } from "../../../core/lbcf/groups/load-balancer-use.ts";
import type { BackendGroup, LoadBalancer } from "../../../core/lbcf/objects/objects.ts";
import type { Clock } from "../../../core/util/clock.ts";
import type { Drivers } from "../drivers/drivers.ts";

export interface GroupValidationsOptions {
  readonly drivers: Drivers;
  readonly clock: Clock;
}

/** How long a refusal is remembered before the driver is asked again. */
export const VALIDATION_LIFE_MS = 60_000;
export const FAILED_VALIDATION_LIFE_MS = 10_000;

interface Remembered {
  readonly validation: ValidationResult;
  readonly untilMs: number;
}

export class GroupValidations {
  readonly #options: GroupValidationsOptions;
  /** By group, load balancer and parameters. Saves calls only: without an entry the driver is asked again. */
  readonly #refusals = new Map<string, Remembered>();

  constructor(options: GroupValidationsOptions) {
    this.#options = options;
  }

  async of(group: BackendGroup, name: string, loadBalancer: LoadBalancer): Promise<ValidationResult> {
    const { drivers, clock } = this.#options;
    const memo = `${group.metadata.uid} ${name} ${parametersKey(group)}`;
    const known = this.#refusals.get(memo);
    if (known !== undefined && known.untilMs > clock.nowMs()) return known.validation;
    const driver = drivers.of(loadBalancer.spec.lbDriver, loadBalancer.metadata.namespace);
    if (driver === undefined) return { kind: "failed", message: "the driver does not exist" };
    const before = acceptanceOf(group, name);
    const isUpdate = before?.accepted === true;
    const validation = await driver.validateBackend({
      backendType: group.spec.backends.kind,
      lbInfo: loadBalancer.status.lbInfo ?? loadBalancer.spec.lbSpec,
      operation: isUpdate ? "Update" : "Create",
      parameters: group.spec.parameters,
      oldParameters: isUpdate ? parametersOf(before.parameters ?? "") : {},
    });
    const lifeMs = validation.kind === "failed" ? FAILED_VALIDATION_LIFE_MS : VALIDATION_LIFE_MS;
    if (validation.kind === "valid") this.#refusals.delete(memo);
    else this.#refusals.set(memo, { validation, untilMs: clock.nowMs() + lifeMs });
    return validation;
  }

  forget(uid: string): void {
    for (const key of this.#refusals.keys()) if (key.startsWith(`${uid} `)) this.#refusals.delete(key);
  }
}
