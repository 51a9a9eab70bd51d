/** Validates names by kind of resource. */
import { compute, gateway, invalid } from "./errors.ts";

export type NameRule = "network" | "virtualNetwork" | "resourceGroup" | "virtualMachine" | "instanceId";

const NETWORK = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,78}[A-Za-z0-9_])?$/;
const VIRTUAL_NETWORK = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}[A-Za-z0-9_]$/;
const RESOURCE_GROUP = /^[\p{L}\p{N}_().-]{0,89}[\p{L}\p{N}_()-]$/u;
const VIRTUAL_MACHINE = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,62}[A-Za-z0-9_-])?$/;

const LETTERS =
  "The name must begin with a letter or number, end with a letter, number or underscore, and may contain only " +
  "letters, numbers, underscores, periods, or hyphens.";

/** Refuses a name that its kind does not allow. */
export function checkName(rule: NameRule, name: string): void {
  switch (rule) {
    case "network":
      if (!NETWORK.test(name)) throw invalidName(name, `The name can be up to 80 characters long. ${LETTERS}`);
      return;
    case "virtualNetwork":
      if (!VIRTUAL_NETWORK.test(name)) throw invalidName(name, `The name must be 2 to 64 characters long. ${LETTERS}`);
      return;
    case "virtualMachine":
      if (!VIRTUAL_MACHINE.test(name)) throw invalidName(name, `The name can be up to 64 characters long. ${LETTERS}`);
      return;
    case "resourceGroup":
      if (RESOURCE_GROUP.test(name)) return;
      throw gateway(
        400,
        "InvalidResourceGroup",
        `The provided resource group name '${name}' has these invalid characters or length: it can have 1 to 90 ` +
          "letters, numbers, underscores, parentheses, hyphens and periods, and cannot end with a period.",
      );
    case "instanceId":
      if (/^\d+$/.test(name)) return;
      throw compute(
        400,
        "InvalidParameter",
        `The provided instanceId ${name} is not an active Virtual Machine Scale Set VM instanceId.`,
      );
  }
}

function invalidName(name: string, rule: string): Error {
  return invalid("InvalidResourceName", `Resource name ${name} is invalid. ${rule}`);
}
