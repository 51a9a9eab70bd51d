/** The NIC that carries the addresses of a private link service or a private endpoint: made and removed with its owner. */
import type { Change, Resource } from "../changes.ts";
import { derivedGuid } from "../guid.ts";
import { keyOf } from "../ids.ts";
import { sameJson, type Json } from "../json.ts";
import type { PutInput } from "../resource-type.ts";
import { nicForm } from "./network-interface/network-interface.ts";
import { Reservations } from "./private-addresses.ts";

const NIC_TYPE = "Microsoft.Network/networkInterfaces";

/** The change of the NIC; none if it is up to date. */
export function carrierNic(input: PutInput, id: string, ipConfigurations: unknown, lastOperation: string): Change[] {
  const key = keyOf(id);
  const existing = input.state.resources.get(key);
  const written: Json = { properties: { ipConfigurations } };
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
    lastOperation,
    createdMs: input.request.nowMs,
    body: next,
    assigned: {},
  };
  return [{ kind: "put", resource }];
}
