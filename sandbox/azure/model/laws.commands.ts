/** Random requests on a small set of resources, after fixed requests that create some of them. */
import * as fc from "fast-check";
import type { ArmRequest } from "./contract.ts";
import { TARGETS } from "./laws.bodies.ts";
import type { OperationFate } from "./operation.ts";
import { COMPUTE, GROUP, NETWORK } from "./test-azure.ts";

export interface Command {
  readonly method: ArmRequest["method"];
  readonly path: string;
  readonly body: unknown;
  readonly afterMs: number;
  readonly tailMs: number;
  readonly ifMatch: "none" | "current" | "stale";
  readonly fate: OperationFate | undefined;
  /** Instead of `body`: the current body, with this admin state on every pool member. */
  readonly echo?: "None" | "Up" | "Down" | "as it is";
}

/** The resources that every history starts with. */
const OPENING: readonly (readonly [string, unknown])[] = [
  [GROUP, { location: "eastus" }],
  [`${NETWORK}/networkSecurityGroups/n0`, { location: "eastus" }],
  [
    `${NETWORK}/virtualNetworks/vnet`,
    {
      location: "eastus",
      properties: {
        addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
        subnets: ["s0", "s1"].map((item, index) => ({
          name: item,
          properties: { addressPrefix: `10.0.${index}.0/24`, privateLinkServiceNetworkPolicies: "Disabled" },
        })),
      },
    },
  ],
  ...["p0", "p1"].map((item): [string, unknown] => [
    `${NETWORK}/publicIPAddresses/${item}`,
    { location: "eastus", sku: { name: "Standard" } },
  ]),
  ...["l0", "l1"].map((item, index): [string, unknown] => [
    `${NETWORK}/loadBalancers/${item}`,
    {
      location: "eastus",
      sku: { name: "Standard" },
      properties: {
        frontendIPConfigurations: [
          { name: "f0", properties: { publicIPAddress: { id: `${NETWORK}/publicIPAddresses/p${index}` } } },
        ],
        backendAddressPools: [{ name: "b0" }, { name: "b1" }],
        loadBalancingRules: [
          {
            name: "rule0",
            properties: {
              protocol: "Tcp",
              frontendPort: 80,
              backendPort: 80 + index,
              frontendIPConfiguration: { id: `${NETWORK}/loadBalancers/${item}/frontendIPConfigurations/f0` },
              backendAddressPool: { id: `${NETWORK}/loadBalancers/${item}/backendAddressPools/b0` },
            },
          },
        ],
      },
    },
  ]),
];

const opening: readonly Command[] = OPENING.map(([path, body]) => ({
  method: "PUT",
  path,
  body,
  afterMs: 0,
  tailMs: 0,
  ifMatch: "none",
  fate: undefined,
}));

const manner = fc.record({
  afterMs: fc.constantFrom(0, 0, 500, 5_000),
  tailMs: fc.constantFrom(0, 0, 0, 1_000),
  ifMatch: fc.constantFrom("none", "none", "none", "current", "stale"),
  fate: fc.constantFrom(undefined, undefined, undefined, undefined, undefined, undefined, {
    status: "Failed" as const,
    code: "InternalServerError",
    message: "An error occurred.",
  }),
});

const ECHOED = [`${NETWORK}/loadBalancers/l0`, `${NETWORK}/loadBalancers/l0/backendAddressPools/b0`];

const request: fc.Arbitrary<Pick<Command, "method" | "path" | "body" | "echo">> = fc.oneof(
  ...TARGETS.map(([path, body]) => body.map((value) => ({ method: "PUT" as const, path, body: value }))),
  fc
    .tuple(
      fc.constantFrom(...ECHOED),
      fc.constantFrom("None", "Up", "Down", "as it is") as fc.Arbitrary<NonNullable<Command["echo"]>>,
    )
    .map(([path, echo]) => ({ method: "PUT" as const, path, body: {}, echo })),
  fc.constantFrom(...TARGETS).map(([path]) => ({ method: "DELETE" as const, path, body: undefined })),
  fc.constant({
    method: "DELETE" as const,
    path: `${COMPUTE}/virtualMachineScaleSets/x0/virtualMachines/0`,
    body: undefined,
  }),
  fc.constantFrom(...TARGETS).map(([path]) => ({ method: "PATCH" as const, path, body: { tags: { patched: "yes" } } })),
  fc.constant({
    method: "POST" as const,
    path: `${NETWORK}/loadBalancers/l0/migrateToIpBased`,
    body: { pools: ["b0"] },
  }),
);

const command: fc.Arbitrary<Command> = fc.tuple(request, manner).map(([what, how]) => ({ ...what, ...how }));

export const history: fc.Arbitrary<readonly Command[]> = fc
  .array(command, { minLength: 5, maxLength: 40, size: "max" })
  .map((commands) => [...opening, ...commands]);
