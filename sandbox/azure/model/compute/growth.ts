/** How a scale set grows: how many more machines, after which model, numbered from where. */
import type { Json } from "../json.ts";
import type { Reservations } from "../network/private-addresses.ts";
import type { PutInput } from "../resource-type.ts";

export interface Growth {
  readonly input: PutInput;
  /** The scale set's stored body. */
  readonly model: Json;
  readonly first: number;
  readonly count: number;
  readonly reservations: Reservations;
}
