/** The NIC that carries the addresses of a private link service. */
import type { Change, Resource } from "../../changes.ts";
import { derivedGuid } from "../../guid.ts";
import { groupIdOf, keyOf, nameOf } from "../../ids.ts";
import { propertiesOf, sameJson, stringOf, type Json } from "../../json.ts";
import type { PutInput } from "../../resource-type.ts";
import { nicForm } from "../network-interface/network-interface.ts";
import { Reservations } from "../private-addresses.ts";

const NIC_TYPE = "Microsoft.Network/networkInterfaces";

export function nicIdOf(input: PutInput): string {
  const known = stringOf(input.existing?.assigned["networkInterface"]);
  if (known !== undefined) return known;
  return `${groupIdOf(input.id)}/providers/${NIC_TYPE}/${nameOf(input.id)}.nic.${derivedGuid(`${input.key}|${input.sequence}`)}`;
}

/** The change of the NIC that carries a service's addresses; none if it is up to date. */
export function nicOf(input: PutInput, id: string, body: Json): Change[] {
  const key = keyOf(id);
  const existing = input.state.resources.get(key);
  const written = { properties: { ipConfigurations: propertiesOf(body)["ipConfigurations"] } };
  const next = nicForm({ ...input, id, key, existing }, written, new Reservations());
  if (existing && sameJson(existing.body, next)) return [];
  const resource: Resource = {
    id,
    type: NIC_TYPE,
    location: input.location,
    guid: existing?.guid ?? derivedGuid(`nic|${id}`),
    sequence: existing?.sequence ?? Math.max(input.state.nextSequence, input.sequence + 1),
    revision: (existing?.revision ?? 0) + 1,
    state: "Succeeded",
    provisioned: true,
    lastOperation: "PutPrivateLinkServiceOperation",
    createdMs: input.request.nowMs,
    body: next,
    assigned: {},
  };
  return [{ kind: "put", resource }];
}
