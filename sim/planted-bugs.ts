/** Bugs that we plant to see that the laws catch them. */
import type { ArmTransport } from "../src/azure/transport.ts";
import type { Fence } from "../src/kube/fence.ts";
import type { Transport } from "../src/kube/transport.ts";
import type { World } from "./world.ts";

export interface PlantedBug {
  readonly arm?: (wire: ArmTransport, world: World) => ArmTransport;
  readonly kube?: (wire: Transport, world: World) => Transport;
  readonly fenceOf?: (fence: Fence) => Fence;
}
