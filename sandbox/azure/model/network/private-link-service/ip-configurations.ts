/** The IP configurations of a private link service: subnet and private address. */
import { invalid } from "../../errors.ts";
import { propertiesOf, stringOf, type Json } from "../../json.ts";
import { childrenOf, follow } from "../../lookups.ts";
import { checkName } from "../../names.ts";
import type { PutInput } from "../../resource-type.ts";
import { idReference, storedChild, writtenProperties } from "../fields.ts";
import { itemsOf } from "../load-balancer/draft.ts";
import { assignPrivateAddress, Reservations } from "../private-addresses.ts";
import { nicIdOf } from "./nic-id.ts";

export function configurations(input: PutInput, value: unknown): Json[] {
  const items = itemsOf(value, "properties.ipConfigurations");
  const limit = input.state.options.limits.natAddressesPerPrivateLinkService;
  if (items.length === 0 || items.length > limit) {
    throw invalid(
      "PrivateLinkServiceIpConfigurationCountInvalid",
      `Private link service ${input.id} has ${items.length} IP configurations. It must have 1 to ${limit}.`,
    );
  }
  const before = childrenOf(input.existing?.body ?? {}, "ipConfigurations");
  const reservations = new Reservations();
  return items.map((item, index) => {
    const name = stringOf(item["name"]) ?? "";
    checkName("network", name);
    return configuration(input, {
      item,
      name,
      first: index === 0,
      before: before.get(name.toLowerCase()),
      reservations,
    });
  });
}

interface ConfigurationWrite {
  readonly item: Json;
  readonly name: string;
  readonly first: boolean;
  readonly before: Json | undefined;
  readonly reservations: Reservations;
}

function configuration(input: PutInput, write: ConfigurationWrite): Json {
  const id = `${input.id}/ipConfigurations/${write.name}`;
  const properties = writtenProperties(write.item);
  properties["privateIPAllocationMethod"] ??= "Dynamic";
  properties["primary"] ??= write.first;
  properties["privateIPAddressVersion"] ??= "IPv4";
  const rule = {
    owner: id,
    location: input.location,
    path: "properties.ipConfigurations[].properties.subnet",
    child: "subnets",
  };
  const subnet = follow(input.state, properties["subnet"], rule);
  if (!subnet)
    throw invalid("PrivateLinkServiceIpConfigurationHasNoSubnet", `IP configuration ${id} must reference a subnet.`);
  if (propertiesOf(subnet.child ?? {})["privateLinkServiceNetworkPolicies"] !== "Disabled") {
    throw invalid(
      "PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled",
      `Private link service ${input.id} cannot be created in a subnet ${subnet.id} since it has private link service network policies enabled.`,
    );
  }
  properties["subnet"] = idReference(subnet.id);
  if (properties["privateIPAllocationMethod"] === "Static") {
    const request = {
      holder: id,
      owner: nicIdOf(input),
      properties,
      before: write.before,
      takenCode: "PrivateIPAddressInUse" as const,
    };
    assignPrivateAddress(input.state, write.reservations, subnet, request);
  } else {
    delete properties["privateIPAddress"];
  }
  return storedChild(write.name, write.item, properties);
}
