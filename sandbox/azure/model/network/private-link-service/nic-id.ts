/** The name of the NIC that carries the addresses of a private link service. */
import { derivedGuid } from "../../guid.ts";
import { groupIdOf, nameOf } from "../../ids.ts";
import { stringOf } from "../../json.ts";
import type { PutInput } from "../../resource-type.ts";

export function nicIdOf(input: PutInput): string {
  const known = stringOf(input.existing?.assigned["networkInterface"]);
  if (known !== undefined) return known;
  const name = `${nameOf(input.id)}.nic.${derivedGuid(`${input.key}|${input.sequence}`)}`;
  return `${groupIdOf(input.id)}/providers/Microsoft.Network/networkInterfaces/${name}`;
}
